/** The parts of an address of the app: `/service/thing/id`. */
export interface Address {
  /** The service or page, such as `downloads`; empty for Home. */
  readonly service: string;
  /** Which of its things, such as `subscriptions`; empty for what it shows first. */
  readonly thing: string;
  /** One of them; empty for all. */
  readonly id: string;
}

/** What an address without a thing shows. Only the address of one of them names it. */
const firstThings: ReadonlyMap<string, string> = new Map([
  ['inbox', 'messages'],
  ['downloads', 'queue'],
  ['push', 'topics'],
  ['delivery', 'overview'],
  ['git', 'overview'],
  ['data', 'overview'],
  ['sync', 'overview'],
]);

/** Reads a path; what is no path of ours comes out as a service that does not exist. */
export function addressOf(path: string): Address {
  const [service = '', thing = '', id = ''] = path
    .replace(/^\/|\/$/g, '')
    .split('/')
    .map(decoded);
  return { service, thing: thing === firstThings.get(service) ? '' : thing, id };
}

/** The path of an address. */
export function pathOf({ service, thing = '', id = '' }: Partial<Address>): string {
  if (service === undefined || service === '') return '/';
  const kind = thing === '' && id !== '' ? (firstThings.get(service) ?? '') : thing;
  const named = [service, ...(kind === '' ? [] : [kind]), ...(id === '' ? [] : [id])];
  const path = `/${named.map(encodeURIComponent).join('/')}`;
  // The host takes a last part that ends as a file does, `public.json`, for one.
  return id.includes('.') ? `${path}/` : path;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A stray % as people type it: the part as it stands names nothing, which the page says.
    return part;
  }
}
