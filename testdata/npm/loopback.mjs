// Preloaded into test servers that would listen on every interface: they listen on loopback only, on the port
// asked for (0 for any), and say on stderr which one it became. Every form of listen() ends in _listen2, at once
// where no host was named, so that a server can ask for its address directly afterwards.
import net from "node:net";

const bind = net.Server.prototype._listen2;
net.Server.prototype._listen2 = function (address, port, addressType, ...rest) {
  if (addressType !== 4 && addressType !== 6) return bind.call(this, address, port, addressType, ...rest);
  this.once("listening", () => console.error(`LISTENING ${this.address().port}`));
  return bind.call(this, "127.0.0.1", port, 4, ...rest);
};
