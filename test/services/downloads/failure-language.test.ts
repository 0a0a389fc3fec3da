import * as m from '#messages/downloads-problems';
import { expect, it } from 'vitest';
import { getFailureCause } from '../../../services/contracts/downloads/causes.ts';
import {
  createServiceFailure,
  DownloadProblem,
  toDownloadFailure,
} from '../../../services/downloads/domain/failure.ts';
import { toDownload, type Item } from '../../../services/downloads/domain/item.ts';
import { toRecord } from '../../../services/downloads/wire/record.ts';
import { noProgress } from '../../../services/downloads/domain/item.ts';
import { runInLanguage } from '../../../services/kit/language.ts';
import { anItem } from './sample-item.ts';

const inLanguage = <T>(language: string, work: () => T): Promise<T> =>
  runInLanguage({ language, locale: language }, work);
const parameters = { kind: 'manual', language: 'de', manual: 'en, fr' };

/** Fails a download in the request of a German page, as far as it is stored. */
async function failInGerman(): Promise<Item> {
  const failure = await inLanguage('de', () =>
    toDownloadFailure(
      new DownloadProblem('downloads.no_captions', 502, createServiceFailure('no_captions', 'site', parameters)),
    ),
  );
  return { ...anItem, state: 'failed', finishedAt: 1, ...failure };
}

it('stores the failure of a download that a German page started in English, with its code and parameters', async () => {
  const item = await failInGerman();
  expect(item).toMatchObject({
    message: m.noCaptionsOnlyManual(parameters),
    failure: 'no_captions',
    failureParameters: parameters,
  });
  const record = await inLanguage('de', () => toRecord(item, noProgress));
  expect(record).toMatchObject({ msg: m.noCaptionsOnlyManual(parameters), error: m.noCaptionsOnlyManual(parameters) });
});

it.each(['en', 'de', 'fr', 'es'])('shows it to a reader with the language %s', async (language) => {
  const download = toDownload(await failInGerman());
  const [text, expected] = await inLanguage(language, () => [
    getFailureCause(download).text,
    m.noCaptionsOnlyManual(parameters),
  ]);
  expect(text).toBe(expected);
});

it('answers a request with the failure in the language of its reader', async () => {
  const problem = new DownloadProblem('downloads.nothing', 502, createServiceFailure('no_file_created', 'other'));
  expect(await inLanguage('fr', () => [problem.detail, problem.message])).toEqual([
    await inLanguage('fr', m.noFileCreated),
    m.noFileCreated(),
  ]);
});

it('keeps the words of the extractor in every language', async () => {
  const message = 'ERROR: [site] abc: Something odd';
  const problem = new DownloadProblem('downloads.engine_failed', 502, { message, failure: null, kind: 'site' });
  expect(await inLanguage('es', () => problem.detail)).toBe(message);
  expect(toDownloadFailure(problem)).toMatchObject({ message, failure: null });
});
