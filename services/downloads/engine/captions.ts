import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import { chooseCaptions, noCaptions, type CaptionsChoice, type KnownCaptions } from '../domain/captions.ts';
import type { Order } from '../domain/order.ts';

const Captions = z.record(z.string(), z.array(z.object({ ext: z.string().nullish() })).nullable()).nullish();
const CaptionsInfo = z.object({ subtitles: Captions, automatic_captions: Captions });

/** Which captions a request for them means. @throws Problem `downloads.no_captions` (502), naming those there are. */
export async function captionsOf(order: Order, infoFile: string | undefined): Promise<CaptionsChoice> {
  const info = infoFile === undefined ? undefined : CaptionsInfo.parse(JSON.parse(await readFile(infoFile, 'utf8')));
  const formats = (captions: z.infer<typeof Captions>): Record<string, string[]> =>
    Object.fromEntries(
      Object.entries(captions ?? {})
        // What is said beside a live stream is no caption of it.
        .filter(([language]) => language !== 'live_chat')
        .map(([language, offers]) => [language, (offers ?? []).flatMap(({ ext }) => ext ?? [])]),
    );
  const known: KnownCaptions | undefined =
    info === undefined ? undefined : { manual: formats(info.subtitles), automatic: formats(info.automatic_captions) };
  const choice = chooseCaptions(order, known);
  if (choice === undefined && known !== undefined) {
    throw new Problem('downloads.no_captions', 502, noCaptions(order, known));
  }
  return choice ?? { language: order.subtitleLanguage, from: ['manual', 'automatic'], native: false };
}
