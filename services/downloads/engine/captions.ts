import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import {
  chooseCaptions,
  listMissingCaptions,
  type CaptionsChoice,
  type AvailableCaptions,
} from '../domain/captions.ts';
import { createServiceFailure, DownloadProblem } from '../domain/failure.ts';
import type { Order } from '../domain/order.ts';

const Captions = z.record(z.string(), z.array(z.object({ ext: z.string().nullish() })).nullable()).nullish();
const CaptionsInfo = z.object({ subtitles: Captions, automatic_captions: Captions });

/**
 * Selects the captions of a request.
 * @throws Problem `downloads.no_captions` (502), which lists the available ones
 */
export async function selectCaptions(order: Order, infoFile: string | undefined): Promise<CaptionsChoice> {
  const info = infoFile === undefined ? undefined : CaptionsInfo.parse(JSON.parse(await readFile(infoFile, 'utf8')));
  const toFormats = (captions: z.infer<typeof Captions>): Record<string, string[]> =>
    Object.fromEntries(
      Object.entries(captions ?? {})
        // The chat of a live stream is not a caption.
        .filter(([language]) => language !== 'live_chat')
        .map(([language, tracks]) => [language, (tracks ?? []).flatMap(({ ext }) => ext ?? [])]),
    );
  const available: AvailableCaptions | undefined =
    info === undefined
      ? undefined
      : { manual: toFormats(info.subtitles), automatic: toFormats(info.automatic_captions) };
  const choice = chooseCaptions(order, available);
  if (choice === undefined && available !== undefined) {
    const failure = createServiceFailure('no_captions', 'site', listMissingCaptions(order, available));
    throw new DownloadProblem('downloads.no_captions', 502, failure);
  }
  return choice ?? { language: order.subtitleLanguage, from: ['manual', 'automatic'], native: false };
}
