import * as t from '#messages/addons-texts';
import * as m from '#messages/addons-problems';
import { errorPrefix } from '../domain/manifest.ts';
import { parseJson } from '../../contracts/parse-json.ts';
import { decodePercentEncoding } from '../../contracts/percent-encoding.ts';
import { toRecord } from '../../contracts/is-record.ts';

/** Error that clients show as an item of the requested resource. */
export interface ErrorItem {
  /** Name of the addon, the service or the configuration that failed. */
  readonly title: string;
  readonly sentence: string;
}

const errorIcon = '[❌]';

/** Builds a stream that shows an error. Opening it leads to the page where the cause can be fixed. */
export function buildErrorStream({ title, sentence }: ErrorItem, link: string): Record<string, unknown> {
  const name = `${errorIcon} ${title}`;
  return {
    name,
    description: sentence,
    externalUrl: link,
    streamData: { type: 'error', error: { title: name, description: sentence }, id: `error.${name}` },
  };
}

/** Builds a catalog entry that shows an error. Its ID contains the error for the detail page. */
export function buildErrorMeta(error: ErrorItem, type: string): Record<string, unknown> {
  const id = `${errorPrefix}.${encodeURIComponent(JSON.stringify({ title: error.title, sentence: error.sentence }))}`;
  return { id, name: `${errorIcon} ${error.title}`, description: error.sentence, type };
}

/** Decodes the error from the ID of a catalog entry. Returns undefined for other IDs. */
export function parseErrorMeta(id: string): ErrorItem | undefined {
  if (!id.startsWith(`${errorPrefix}.`)) return undefined;
  const { title, sentence } = toRecord(parseJson(decodePercentEncoding(id.slice(errorPrefix.length + 1)) ?? ''));
  return typeof title === 'string' && typeof sentence === 'string' ? { title, sentence } : undefined;
}

/** Builds a subtitle entry that shows an error. */
export function buildErrorSubtitle({ title, sentence }: ErrorItem, link: string): Record<string, unknown> {
  return { id: `error.${title}`, lang: `${errorIcon} ${title} - ${sentence}`, url: link };
}

/** Builds the body of a resource for which all requests failed. */
export function buildErrorBody(
  resource: string,
  type: string,
  errors: readonly ErrorItem[],
  link: string,
): Record<string, unknown> {
  if (resource === 'stream') return { streams: errors.map((error) => buildErrorStream(error, link)) };
  if (resource === 'catalog') return { metas: errors.map((error) => buildErrorMeta(error, type)) };
  if (resource === 'meta') {
    const [firstError = { title: t.error(), sentence: m.unknownError() }] = errors;
    return { meta: buildErrorMeta(firstError, type) };
  }
  if (resource === 'subtitles') return { subtitles: errors.map((error) => buildErrorSubtitle(error, link)) };
  return { addons: [] };
}
