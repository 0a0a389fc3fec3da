import type { Kysely } from 'kysely';
import type { FailureCode, FailureParameters } from '../../contracts/downloads/causes.ts';
import type { Migration } from '../../contracts/service.ts';

interface Tables {
  downloads: { uid: string; message: string | null; failure: string | null; failure_parameters: string | null };
  downloads_subscriptions: {
    id: string;
    error: string | null;
    failure: string | null;
    failure_parameters: string | null;
  };
}

/** Sentences of older versions, which stored no codes for them. Named groups are the parameters. */
const sentences: readonly (readonly [FailureCode, RegExp])[] = [
  ['already_archived', /^Already downloaded earlier, according to the download archive\.$/],
  ['engine_killed', /^yt-dlp was stopped by the system, /],
  ['engine_exited', /^yt-dlp exited with code (?<code>\d+)\.(?: (?<line>.+))?$/s],
  ['engine_ended', /^yt-dlp was stopped by (?<signal>SIG[A-Z0-9]+)\.(?: (?<line>.+))?$/s],
  ['engine_output_empty', /^yt-dlp returned no data\. /],
  ['engine_output_invalid', /^yt-dlp returned incomplete or invalid data\. /],
  ['nothing_recorded', /^The recording was stopped before anything was recorded\.$/],
  ['no_file_created', /^yt-dlp finished without creating a file\.$/],
  ['file_outside', /^The file would be outside of the download folder\.$/],
  ['conversion_failed', /^ffmpeg (?:couldn’t|could not) convert the file(?:\.|: (?<line>.+))$/s],
  [
    'captions_not_convertible',
    /^The site has its captions as (?<source>\S+), which (?:can’t|cannot) be converted to (?<target>\S+)\.$/,
  ],
  ['no_captions', /^No (?<kind>manual |automatic )?captions in “(?<language>.*)”\. The site has none\.$/],
  [
    'no_captions',
    /^No (?<kind>manual |automatic )?captions in “(?<language>.*)”\. The site has automatic captions in: (?<automatic>.*)\.$/,
  ],
  [
    'no_captions',
    /^No (?<kind>manual |automatic )?captions in “(?<language>.*)”\. The site has manual captions in: (?<manual>[^;]*)(?:; automatic captions in: (?<automatic>.*))?\.$/,
  ],
  ['single_video', /^This URL points to a single video, /],
  ['filter_too_slow', /^The filter is too slow for these titles\. /],
];

/** Returns the code and the parameters of a stored sentence; undefined for the words of a program. */
export function findServiceFailure(
  message: string,
): { readonly failure: FailureCode; readonly parameters: FailureParameters } | undefined {
  for (const [failure, pattern] of sentences) {
    const match = pattern.exec(message);
    if (match === null) continue;
    const groups = Object.entries(match.groups ?? {}).filter(([, value]) => typeof value === 'string');
    return { failure, parameters: Object.fromEntries(groups.map(([name, value]) => [name, value.trim()])) };
  }
  return undefined;
}

/** Rows per statement. */
const batchSize = 500;

/** Adds the parameters of failures, and derives codes and parameters of sentences that older versions stored, once. */
export const failureParameters: Migration = {
  name: '054-failure-parameters',
  async up(db) {
    await db.schema.alterTable('downloads').addColumn('failure_parameters', 'text').execute();
    await db.schema.alterTable('downloads_subscriptions').addColumn('failure_parameters', 'text').execute();
    const tables = db as Kysely<Tables>;
    let lastUid: string | undefined = '';
    while (lastUid !== undefined) lastUid = await storeNextFailures(tables, lastUid);
    const subscriptions = await tables
      .selectFrom('downloads_subscriptions')
      .select(['id', 'error'])
      .where('error', 'is not', null)
      .where('failure', 'is', null)
      .execute();
    for (const { id, error } of subscriptions) {
      const stated = findServiceFailure(error ?? '');
      if (stated === undefined) continue;
      const values = { failure: stated.failure, failure_parameters: JSON.stringify(stated.parameters) };
      await tables.updateTable('downloads_subscriptions').set(values).where('id', '=', id).execute();
    }
  },
};

/** Stores the failures of the next downloads by uid, and returns the last uid; undefined at the end. */
async function storeNextFailures(tables: Kysely<Tables>, lastUid: string): Promise<string | undefined> {
  const downloads = await tables
    .selectFrom('downloads')
    .select(['uid', 'message'])
    .where('message', 'is not', null)
    .where('failure', 'is', null)
    .where('uid', '>', lastUid)
    .orderBy('uid')
    .limit(batchSize)
    .execute();
  for (const { uid, message } of downloads) {
    const stated = findServiceFailure(message ?? '');
    if (stated === undefined) continue;
    const values = { failure: stated.failure, failure_parameters: JSON.stringify(stated.parameters) };
    await tables.updateTable('downloads').set(values).where('uid', '=', uid).execute();
  }
  return downloads.at(-1)?.uid;
}
