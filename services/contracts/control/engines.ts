import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { defineTopic } from '../bus.ts';
import { SuggestedAction } from '../health.ts';

/** External program that does part of a service's work. */
export const Engine = z.object({
  /** Name in the manifest of its service: `yt-dlp`. */
  name: z.string(),
  /** Absolute path of the executable; null while it is missing. */
  path: z.string().nullable(),
  version: z.string().nullable(),
  /** Origin: the setting, the data folder, or the system. */
  source: z.enum(['setting', 'data', 'system', 'missing']),
  /** Remedy in one sentence while it is missing, for the command line. */
  remedy: z.string().nullable(),
  /** Reason why the configured or detected program cannot be used. */
  problem: z.string().optional(),
  /** Action of an administrator that solves the problem. */
  mend: SuggestedAction.optional(),
});
export type Engine = z.infer<typeof Engine>;

/** Finds, installs and starts the external programs that services use. */
export interface Engines {
  /**
   * Finds an engine; the result is cached unless `refresh` is set. Does not throw for a missing engine.
   * @throws Problem `control.unknown_engine` (404) for a name that no manifest declares.
   */
  find(name: string, options?: { readonly refresh?: boolean }): Promise<Engine>;
  /** Returns the progress of the installation; undefined when none is running. */
  working(name: string): EngineWork | undefined;
  /**
   * Resolves once no installation of the engine is running or due after the start. Never rejects: {@link find}
   * returns the result.
   */
  settled(name: string): Promise<void>;
  /** Returns how to import the engine that {@link find} returns; undefined when only its executable exists. */
  library(name: string): Promise<EngineLibrary | undefined>;
  /**
   * Starts a script that imports a library; its first argument is the folder to import from. The process is isolated
   * from the user's Python, gets a clean environment and leads its own process group.
   */
  start(
    library: EngineLibrary,
    options: {
      readonly script: string;
      readonly folder: string;
      /** Added to the clean environment. */
      readonly environment?: Readonly<Record<string, string>>;
    },
  ): ChildProcessByStdio<Writable, Readable, Readable>;
}

/** Python interpreter that can import an engine. */
export interface EngineLibrary {
  /** Absolute path of the interpreter. */
  readonly python: string;
  /** Folder or archive to import from; empty when the interpreter finds it without. */
  readonly path: string;
}

/** Current step of an installation, with a percentage when the total is known. */
export const EngineWork = z.object({ step: z.string(), percent: z.number().min(0).max(100).nullable() });
export type EngineWork = z.infer<typeof EngineWork>;

/** Engine as its page shows it, including `python`, which runs some engines and is only detected, never installed. */
export const EngineState = Engine.extend({
  /** Purpose, consequence of its absence and effect of its removal, one sentence each. */
  purpose: z.string(),
  absence: z.string(),
  removal: z.string(),
  optional: z.boolean(),
  /** Homeport can install it. */
  installable: z.boolean(),
  /** Time of the last version check, ms since the epoch. */
  checkedAt: z.number(),
  /** Size on disk: the whole folder when it is in the data folder, else the executable; null when unknown. */
  bytes: z.number().nullable(),
  /** Version that an installation provides; null when the system decides, or updates its own program. */
  offered: z.string().nullable(),
  /** The settings define its path, so an installation would have no effect. */
  configured: z.boolean(),
  /** Setting of the host that defines its path. */
  setting: z.string().nullable(),
  /** Homeport installed it and can remove it. */
  removable: z.boolean(),
  /** Progress of the running installation. */
  work: EngineWork.nullable(),
  /** Error of the last installation, until the next one starts. */
  failure: z.string().nullable(),
  /** Command that installs it through the system's package manager, and whether root has to run it. */
  byHand: z.object({ command: z.string(), asRoot: z.boolean() }).nullable(),
});
export type EngineState = z.infer<typeof EngineState>;

/** Published when an installation progresses or ends (`work` null: read the state again). */
export const engineProgress = defineTopic(
  'control.engine',
  z.object({ name: z.string(), work: EngineWork.nullable() }),
);
