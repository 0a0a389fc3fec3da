import { errorPrefix } from '../domain/manifest.ts';

/** Error that clients show as an item of the requested resource. */
export interface ShownError {
  /** Name of the addon, the service or the configuration that failed. */
  readonly title: string;
  readonly sentence: string;
}

const mark = '[❌]';

/** Builds a stream that shows an error. Opening it leads to the page where the cause can be fixed. */
export function errorStream({ title, sentence }: ShownError, link: string): Record<string, unknown> {
  const name = `${mark} ${title}`;
  return {
    name,
    description: sentence,
    externalUrl: link,
    streamData: { type: 'error', error: { title: name, description: sentence }, id: `error.${name}` },
  };
}

/** Builds a catalog entry that shows an error. Its ID contains the error for the detail page. */
export function errorMeta(error: ShownError, type: string): Record<string, unknown> {
  const id = `${errorPrefix}.${encodeURIComponent(JSON.stringify({ title: error.title, sentence: error.sentence }))}`;
  return { id, name: `${mark} ${error.title}`, description: error.sentence, type };
}

/** Decodes the error from the ID of a catalog entry. Returns undefined for other IDs. */
export function readErrorMeta(id: string): ShownError | undefined {
  if (!id.startsWith(`${errorPrefix}.`)) return undefined;
  try {
    const read: unknown = JSON.parse(decodeURIComponent(id.slice(errorPrefix.length + 1)));
    const { title, sentence } = read as Partial<ShownError>;
    return typeof title === 'string' && typeof sentence === 'string' ? { title, sentence } : undefined;
  } catch {
    return undefined;
  }
}

/** Builds a subtitle entry that shows an error. */
export function errorSubtitle({ title, sentence }: ShownError, link: string): Record<string, unknown> {
  return { id: `error.${title}`, lang: `${mark} ${title} - ${sentence}`, url: link };
}

/** Builds the body of a resource for which all requests failed. */
export function errorBody(
  resource: string,
  type: string,
  errors: readonly ShownError[],
  link: string,
): Record<string, unknown> {
  if (resource === 'stream') return { streams: errors.map((error) => errorStream(error, link)) };
  if (resource === 'catalog') return { metas: errors.map((error) => errorMeta(error, type)) };
  if (resource === 'meta') {
    const [first = { title: 'Error', sentence: 'Something went wrong.' }] = errors;
    return { meta: errorMeta(first, type) };
  }
  if (resource === 'subtitles') return { subtitles: errors.map((error) => errorSubtitle(error, link)) };
  return { addons: [] };
}
