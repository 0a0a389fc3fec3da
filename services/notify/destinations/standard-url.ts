import { parseDestinationUrl, writeDestinationUrl, type DestinationUrl } from './url.ts';
import { parseWebhookAddress } from './webhook-address.ts';

/**
 * The URL with its parts in their places: of a webhook's address as its service shows it, and of arguments that stand for
 * them (`user`, `pass`, `port`), as the peer reads those with every scheme.
 */
export function toStandardUrl(typed: DestinationUrl): DestinationUrl {
  const url = parseWebhookAddress(typed);
  const getArgument = (name: string): string | undefined => url.query.get(name) || undefined;
  const [user, password, port] = [
    getArgument('user'),
    getArgument('pass') ?? getArgument('password'),
    parsePort(getArgument('port')),
  ];
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
export function toStandardText(text: string): string {
  const url = parseDestinationUrl(text);
  const standard = url === undefined ? undefined : toStandardUrl(url);
  return standard === undefined || standard === url ? text : writeDestinationUrl(standard);
}

function parsePort(text: string | undefined): number | undefined {
  const port = Number(text);
  return Number.isInteger(port) && port >= 1 && port <= 65_535 ? port : undefined;
}
