import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { defineTopic } from '../bus.ts';

export const EngineName = z.enum(['yt-dlp', 'ffmpeg', 'ffprobe', 'apprise']);
export type EngineName = z.infer<typeof EngineName>;

/** The engines that are Python libraries. */
export type LibraryName = 'yt-dlp' | 'apprise';

/** An outside program that does part of a service's work. */
export const Engine = z.object({
  name: EngineName,
  /** Absolute path of the executable; null while it is missing. */
  path: z.string().nullable(),
  version: z.string().nullable(),
  /** Where it was found: the setting, the app's own data folder, or the system. */
  source: z.enum(['setting', 'data', 'system', 'missing']),
  /** When missing: what to do about it, in one sentence. */
  remedy: z.string().nullable(),
});
export type Engine = z.infer<typeof Engine>;

export interface Engines {
  /** Found on first use and remembered; `refresh` looks again. Never throws for a missing engine. */
  find(name: EngineName, options?: { readonly refresh?: boolean }): Promise<Engine>;
  /** How the engine that {@link find} answers can be imported; undefined where there is only its executable. */
  library(name: LibraryName): Promise<EngineLibrary | undefined>;
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

/** What the Engines page shows besides the engines: Python, which runs yt-dlp where it can. It is found, never installed alone. */
export const ShownEngineName = z.enum([...EngineName.options, 'python']);
export type ShownEngineName = z.infer<typeof ShownEngineName>;

/** How far an installation is: what it does now, and per cent where the whole is known. */
export const EngineWork = z.object({ step: z.string(), percent: z.number().min(0).max(100).nullable() });
export type EngineWork = z.infer<typeof EngineWork>;

/** An engine as its page shows it. */
export const EngineState = Engine.extend({
  name: ShownEngineName,
  /** When it was last asked for its version, ms since the epoch. */
  checkedAt: z.number(),
  /** Bytes on disk: all of it where it lies in the data folder, else the executable alone; null when unknown. */
  bytes: z.number().nullable(),
  /** The version that an installation brings; null when that is the system's choice. */
  offered: z.string().nullable(),
  /** The settings say where it is: it is used or missing, and installing would not change that. */
  configured: z.boolean(),
  /** Homeport installed it, and can remove it. */
  removable: z.boolean(),
  /** Its installation, while one runs. */
  work: EngineWork.nullable(),
});
export type EngineState = z.infer<typeof EngineState>;

/** An installation got on, or ended (`work` null: it is there, gone or has failed; ask for its state). */
export const engineWorked = defineTopic('control.engine', z.object({ name: EngineName, work: EngineWork.nullable() }));
