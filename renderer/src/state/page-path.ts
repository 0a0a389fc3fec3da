import { decodePercentEncoding } from '../../../services/contracts/percent-encoding.ts';

/** The parts of a path of the app: `/service/section/id`. */
export interface PagePath {
  /** The service or page, such as `downloads`; empty for Home. */
  readonly service: string;
  /** The view of the page, such as `subscriptions`; empty for the default view. */
  readonly section: string;
  /** The open item; empty when none is open. */
  readonly id: string;
}

/** Default views by page. They are part of a path only when it names an item. */
const defaultSections: ReadonlyMap<string, string> = new Map([
  ['inbox', 'messages'],
  ['downloads', 'queue'],
  ['push', 'topics'],
  ['delivery', 'overview'],
  ['git', 'overview'],
  ['data', 'overview'],
  ['sync', 'overview'],
]);

/** Parses a path. An unknown path results in a service that does not exist. */
export function parsePath(path: string): PagePath {
  const [service = '', section = '', id = ''] = path
    .replace(/^\/|\/$/g, '')
    .split('/')
    .map(decodeSegment);
  return { service, section: section === defaultSections.get(service) ? '' : section, id };
}

/** Builds the path of a page, view or item. */
export function buildPath({ service, section: namedSection = '', id = '' }: Partial<PagePath>): string {
  if (service === undefined || service === '') return '/';
  const section = namedSection === '' && id !== '' ? (defaultSections.get(service) ?? '') : namedSection;
  const segments = [service, ...(section === '' ? [] : [section]), ...(id === '' ? [] : [id])];
  const path = `/${segments.map(encodeURIComponent).join('/')}`;
  // The host treats a last segment with a file extension such as `public.json` as a file.
  return id.includes('.') ? `${path}/` : path;
}

function decodeSegment(part: string): string {
  // A segment with a stray %, as typed by users, is used unchanged, and the page reports that nothing has this name.
  return decodePercentEncoding(part) ?? part;
}
