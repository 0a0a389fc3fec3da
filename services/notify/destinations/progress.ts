import { z } from 'zod';

/**
 * Confirmed steps of a delivery that needs several requests: pieces, files, rooms. A step has a name within its
 * delivery and may have a short note that a later step needs.
 */
export interface Progress {
  getNote(step: string): string | undefined;
  confirm(step: string, note: string): void;
  /** Stores the steps that were confirmed since the last call. */
  save(): Promise<void>;
}

/**
 * Runs a step unless it was confirmed before.
 *
 * @returns the note of the step.
 * @throws the error of the step, which is then not confirmed.
 */
export type RunOnce = (step: string, work: () => Promise<unknown>) => Promise<string>;

const Notes = z.record(z.string(), z.string());
const maxNoteLength = 500;

/** Opens stored progress, `''` for none; `write` stores it again. */
export function openProgress(stored: string, write: (stored: string) => Promise<void>): Progress {
  const steps = new Map(stored === '' ? [] : Object.entries(Notes.parse(JSON.parse(stored))));
  let saved = steps.size;
  return {
    getNote: (step) => steps.get(step),
    confirm: (step, note) => void steps.set(step, note.slice(0, maxNoteLength)),
    async save() {
      if (steps.size === saved) return;
      await write(JSON.stringify(Object.fromEntries(steps)));
      saved = steps.size;
    },
  };
}

/**
 * Returns a function that runs the steps of one piece. Confirmed steps are stored before the next step begins, so
 * that a delivery with one step writes nothing.
 */
export function createSteps(progress: Progress | undefined, piece: string): RunOnce {
  return async (step, work) => {
    const stepName = `${piece}/${step}`;
    const storedNote = progress?.getNote(stepName);
    if (storedNote !== undefined) return storedNote;
    await progress?.save();
    const result = await work();
    const note = typeof result === 'string' ? result : '';
    progress?.confirm(stepName, note);
    return note;
  };
}
