import { parseDestinationUrl, writeDestinationUrl, type DestinationUrl } from './url.ts';
import { parseWebhookAddress } from './webhook-address.ts';

/**
 * Converts a web address of a webhook to the URL of its kind, and moves the arguments `user`, `pass` and `port` to
 * their parts, as Apprise does for every scheme.
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
    // If another user is named, the part before the @ is the password: `mailtos://PASSWORD@host?user=name`.
    password: password ?? url.password ?? (user === undefined ? undefined : url.user),
    port: port ?? url.port,
  };
}

/** Converts the text of a URL; one that needs no conversion keeps its typed form. */
export function toStandardText(text: string): string {
  const url = parseDestinationUrl(text);
  const standard = url === undefined ? undefined : toStandardUrl(url);
  return standard === undefined || standard === url ? text : writeDestinationUrl(standard);
}

function parsePort(text: string | undefined): number | undefined {
  const port = Number(text);
  return Number.isInteger(port) && port >= 1 && port <= 65_535 ? port : undefined;
}
