import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { defineTopic } from '../bus.ts';
import { SuggestedAction } from '../health.ts';

/** An outside program that does part of a service's work. */
export const Engine = z.object({
  /** As the manifest of its service names it: `yt-dlp`. */
  name: z.string(),
  /** Absolute path of the executable; null while it is missing. */
  path: z.string().nullable(),
  version: z.string().nullable(),
  /** Where it was found: the setting, the app's own data folder, or the system. */
  source: z.enum(['setting', 'data', 'system', 'missing']),
  /** When missing: what to do about it, in one sentence, for who has no page before them. */
  remedy: z.string().nullable(),
  /** When missing: why what was found, or set, cannot be used. */
  trouble: z.string().optional(),
  /** When missing: what mends it, with one click of an administrator. */
  mend: SuggestedAction.optional(),
});
export type Engine = z.infer<typeof Engine>;

export interface Engines {
  /**
   * Found on first use and remembered; `refresh` looks again. Never throws for a missing engine.
   * @throws Problem `control.unknown_engine` (404) for one that no manifest names.
   */
  find(name: string, options?: { readonly refresh?: boolean }): Promise<Engine>;
  /** How far its installation is; undefined while there is none. */
  working(name: string): EngineWork | undefined;
  /**
   * Resolves once no installation of it is running or due after the start; at once where there is none. It never rejects:
   * {@link find} says what came of it.
   */
  settled(name: string): Promise<void>;
  /** How the engine that {@link find} answers can be imported; undefined where there is only its executable. */
  library(name: string): Promise<EngineLibrary | undefined>;
  /**
   * Starts a script that imports a library: the folder to import from is its first argument. It is isolated from the
   * user's Python, gets no secret of ours in its environment, and leads a process group of its own.
   */
  start(
    library: EngineLibrary,
    options: { readonly script: string; readonly folder: string },
  ): ChildProcessByStdio<Writable, Readable, Readable>;
}

/** A Python that can import an engine. */
export interface EngineLibrary {
  /** Absolute path of the interpreter. */
  readonly python: string;
  /** Folder or archive to import from; '' where the interpreter finds it by itself. */
  readonly path: string;
}

/** How far an installation is: what it does now, and per cent where the whole is known. */
export const EngineWork = z.object({ step: z.string(), percent: z.number().min(0).max(100).nullable() });
export type EngineWork = z.infer<typeof EngineWork>;

/** An engine as its page shows it, or `python`, which runs some of them: it is found, never installed alone. */
export const EngineState = Engine.extend({
  /** One sentence each: what it does, what its absence means, and what its removal does to what is going on. */
  purpose: z.string(),
  absence: z.string(),
  removal: z.string(),
  /** Most people do without it. */
  optional: z.boolean(),
  /** Homeport has a way to install it. */
  installable: z.boolean(),
  /** When it was last asked for its version, ms since the epoch. */
  checkedAt: z.number(),
  /** Bytes on disk: all of it where it lies in the data folder, else the executable alone; null when unknown. */
  bytes: z.number().nullable(),
  /** The version that an installation brings; null when that is the system's choice. */
  offered: z.string().nullable(),
  /** The settings say where it is: it is used or missing, and installing would not change that. */
  configured: z.boolean(),
  /** The host's setting that can say so. */
  setting: z.string().nullable(),
  /** Homeport installed it, and can remove it. */
  removable: z.boolean(),
  /** Its installation, while one runs. */
  work: EngineWork.nullable(),
  /** Why the last installation failed, until the next one begins. */
  failure: z.string().nullable(),
  /** The command that installs it where only the system's own package manager has it. */
  byHand: z.string().nullable(),
});
export type EngineState = z.infer<typeof EngineState>;

/** An installation got on, or ended (`work` null: it is there, gone or has failed; ask for its state). */
export const engineProgress = defineTopic(
  'control.engine',
  z.object({ name: z.string(), work: EngineWork.nullable() }),
);
