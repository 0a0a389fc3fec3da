import { z } from 'zod';
import { defineTopic } from '../bus.ts';
import type { Rights } from '../route-access.ts';
import { readTexts, type Text } from '../text.ts';
import { EngineWork } from './engines.ts';

/** Current step of an installation, whose text is evaluated for each reader. */
export interface EngineProgress {
  readonly step: Text;
  readonly percent: number | null;
}

/** Progress of an installation; null when it has ended. */
export interface EngineProgressEvent {
  readonly name: string;
  readonly work: EngineProgress | null;
}

const schema = z.custom<EngineProgressEvent>(
  (value) => z.object({ name: z.string(), work: EngineWork.nullable() }).safeParse(readTexts(value)).success,
);

/** Event of pages `engineProgress` with a text that is evaluated for each reader. The host uses this one. */
export const engineProgressChanged = defineTopic('control.engine', schema);

/** Returns the event in the current language for administrators. */
export function toVisibleProgress(event: EngineProgressEvent, rights: Rights): EngineProgressEvent | undefined {
  return rights.all ? readTexts(event) : undefined;
}
