import { parseDestinationUrl, writeDestinationUrl, type DestinationUrl } from './url.ts';
import { readWebAddress } from './webhook-address.ts';

/**
 * The URL with its parts in their places: of a webhook's address as its service shows it, and of arguments that stand for
 * them (`user`, `pass`, `port`), as the peer reads those with every scheme.
 */
export function plainUrl(given: DestinationUrl): DestinationUrl {
  const url = readWebAddress(given);
  const asked = (name: string): string | undefined => url.query.get(name) || undefined;
  const [user, password, port] = [asked('user'), asked('pass') ?? asked('password'), portOf(asked('port'))];
  if ((user ?? password ?? port) === undefined) return url;
  const query = new Map([...url.query].filter(([name]) => !['user', 'pass', 'password'].includes(name)));
  if (port !== undefined) query.delete('port');
  return {
    ...url,
    query,
    user: user ?? url.user,
    // Before another user's name what stands there is the password: `mailtos://PASSWORD@host?user=name`.
    password: password ?? url.password ?? (user === undefined ? undefined : url.user),
    port: port ?? url.port,
  };
}

/** The same for a text; one that is plain already stays as it was typed. */
export function plainText(text: string): string {
  const url = parseDestinationUrl(text);
  const plain = url === undefined ? undefined : plainUrl(url);
  return plain === undefined || plain === url ? text : writeDestinationUrl(plain);
}

function portOf(text: string | undefined): number | undefined {
  const port = Number(text);
  return Number.isInteger(port) && port >= 1 && port <= 65_535 ? port : undefined;
}
