import { errorPrefix } from '../domain/manifest.ts';

/** What is wrong, as clients show it: in the place of what they asked for. */
export interface ShownError {
  /** Whose it is: an addon, a service, or the configuration itself. */
  readonly title: string;
  readonly sentence: string;
}

const mark = '[❌]';

/** A stream that says what is wrong; opening it leads to where it can be mended. */
export function errorStream({ title, sentence }: ShownError, link: string): Record<string, unknown> {
  const name = `${mark} ${title}`;
  return {
    name,
    description: sentence,
    externalUrl: link,
    streamData: { type: 'error', error: { title: name, description: sentence }, id: `error.${name}` },
  };
}

/** A card in a catalog, and the page behind it. */
export function errorMeta(error: ShownError, type: string): Record<string, unknown> {
  const id = `${errorPrefix}.${encodeURIComponent(JSON.stringify({ title: error.title, sentence: error.sentence }))}`;
  return { id, name: `${mark} ${error.title}`, description: error.sentence, type };
}

/** The error behind a card's id; undefined when it is no such id. */
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

/** A line among the subtitles. */
export function errorSubtitle({ title, sentence }: ShownError, link: string): Record<string, unknown> {
  return { id: `error.${title}`, lang: `${mark} ${title} - ${sentence}`, url: link };
}

/** What a resource is answered with when nothing but errors came of it. */
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
