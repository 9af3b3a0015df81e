// Preloaded into test servers that would listen on every interface: they listen on loopback only, on the port
// asked for (0 for any), and say on stderr which one it became.
import net from "node:net";

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port, ...rest) {
  this.once("listening", () => console.error(`LISTENING ${this.address().port}`));
  return listen.call(this, { port: Number(port), host: "127.0.0.1" }, ...rest.filter((a) => typeof a === "function"));
};
