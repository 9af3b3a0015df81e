package mcphost

import (
	"context"
	"time"

	"steward/mcphost/internal/oauth"
)

// SignIn is what the program around a [Host] does so that servers can be signed
// in to (OAuth 2.1; MCP 2026-07-28, authorization). Its methods may be called by
// any goroutine and several at once. They may wait for a keyring or a person, and
// return soon after the context has ended.
type SignIn interface {
	// Load returns what [SignIn.Save] last kept under the key, or nil if that is
	// nothing. Keys hold an issuer and a resource; they are no secrets.
	Load(ctx context.Context, key string) ([]byte, error)
	// Save keeps a secret: tokens, or the registration of this program at an
	// authorization server. It never goes into a file in the clear.
	Save(ctx context.Context, key string, secret []byte) error
	// Delete forgets a secret; one that is not kept is no error.
	Delete(ctx context.Context, key string) error
	// Ready says whether a person can be asked to sign in: nil, or ErrSignInNobody. It is
	// called before anything is sent that an authorization server would remember, and
	// before a person is waited for, and does not wait for one itself.
	Ready(ctx context.Context, p SignInPlan) error
	// Register asks the person whether this program may register itself at a server that
	// names no authorization server and is taken for its own (MCP 2025-03-26). It is
	// called before that is tried; what page then comes is asked with Visit.
	// ErrSignInRefused is the person's no.
	Register(ctx context.Context, p SignInPlan) error
	// Visit asks the person whether to sign in and, on a yes, has the system's
	// browser open the page. It returns nil once that was done; what happens there
	// is told by the browser coming back. It may also show that the page is open, and
	// return when the context ends or the person gives up. ErrSignInRefused is the
	// person's no, before or then. The
	// context ends with the sign-in, however it ends: a question that still stands
	// is then withdrawn. Its cause is ErrSignedIn, or why it did not come about.
	Visit(ctx context.Context, p SignInPage) error
	// Client asks the person for the identity under which this program was
	// registered by hand, where the authorization server takes no other way.
	// ErrSignInRefused is the person's no.
	Client(ctx context.Context, r ClientRequest) (OAuthClient, error)
}

// SignInTokens is how the keys of tokens begin, by which [SignIn.Save] can tell a
// sign-in from a registration.
const SignInTokens = oauth.TokensPrefix

// SignInLimit is how long a person may take to answer [SignIn.Visit], and again to
// sign in at the page.
const SignInLimit = oauth.VisitLimit

// ErrSignInRefused says that the person did not want to sign in. It is remembered
// until [Connection.SignIn] asks again.
var ErrSignInRefused = oauth.ErrRefused

// ErrSignInDenied is an ErrSignInRefused of the authorization server.
var ErrSignInDenied = oauth.ErrDenied

// ErrSignedIn is how the context of a [SignIn.Visit] ends that led to a sign-in.
var ErrSignedIn = oauth.ErrSignedIn

// ErrSignInNobody says that nobody can be asked to sign in. It is remembered like a
// refusal, and blames nobody.
var ErrSignInNobody = oauth.ErrNobody

// SignInPlan is a sign-in that has not begun.
type SignInPlan struct {
	Server   string   // ServerConfig.ID
	Calls    []string // as in SignInPage
	Issuer   string   // the authorization server; not cleaned for display
	Resource string
}

// SignInPage is a page of an authorization server at which a person signs in.
type SignInPage struct {
	Server   string   // ServerConfig.ID
	Calls    []string // owners of the tool calls that wait for it; nil at a start
	Issuer   string   // the authorization server
	Resource string   // what the token will be for
	// URL is https with a host, or http on this computer; not cleaned for display.
	URL    string
	Scopes []string
	// More says that the server wants more than was granted before.
	More bool
	// Strays receives where a browser came back with what is no answer to this page,
	// such as that of an earlier sign-in. It was not used, and the right answer is
	// still waited for. It is never closed.
	Strays <-chan struct{}
}

// ClientRequest asks for a client that was registered by hand.
type ClientRequest struct {
	Server, Issuer string
	Redirect       string // the redirect URI that must be registered
	Reason         string // a sentence: why no other way is left
}

// OAuthClient is the identity of this program at an authorization server. Secret
// is "" for a public client.
type OAuthClient struct{ ID, Secret string }

// OAuthConfig is what a person may set about signing in to one server. All of it
// is optional.
type OAuthConfig struct {
	ClientID, ClientSecret string // registered beforehand
	// MetadataURL is the https address of this program's client id metadata
	// document, where there is one.
	MetadataURL string
	Scopes      []string // asked for instead of those that the server names
	// CallbackPort is the port on 127.0.0.1 that the browser comes back to; 0 takes
	// the one used before, or any that is free.
	CallbackPort int
}

// SignInState is how things stand with signing in to one server. It holds no
// secret.
type SignInState struct {
	Needed   bool // the server has asked for it
	SignedIn bool
	Refused  bool // the person said no, and is not asked again by itself
	Waiting  bool // the person is being asked, or is at the page
	Issuer   string
	Resource string
	Scopes   []string
	Expires  time.Time // of the token at hand; zero if it was not said
}

// StageSignIn is the stage of a [StartError] of a server that wants to be signed
// in to.
const StageSignIn = "sign-in"
