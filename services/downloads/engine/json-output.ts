import { z } from 'zod';
import { DownloadProblem } from '../domain/failure.ts';
import { parseJson } from '../../contracts/parse-json.ts';

/**
 * Parses the JSON output of the extractor.
 * @throws Problem `downloads.engine_failed` (502) when it is incomplete, empty or invalid
 */
export function parseOutput<T>(schema: z.core.$ZodType<T>, json: string): T {
  try {
    return z.parse(schema, parseJson(json));
  } catch (cause) {
    const problem = json === '' ? 'gave no answer' : 'gave an answer that is cut off or cannot be read';
    const message = `yt-dlp ${problem}. Retry; if that does not help, update yt-dlp.`;
    const failure = { message, failure: null, kind: 'engine' } as const;
    throw new DownloadProblem('downloads.engine_failed', 502, failure, { cause });
  }
}
