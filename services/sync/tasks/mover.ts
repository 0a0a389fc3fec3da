import type { Listing, PlannedFile } from '../domain/plan.ts';
import type { JobOutcome } from '../jobs/job.ts';

export interface MoverOptions {
  /** Group of the statistics. */
  readonly group: string;
  /** Patterns in rclone's syntax, such as `*.tmp`. */
  readonly exclude: readonly string[];
  readonly signal: AbortSignal;
}

/** Executes the file operations of a sync task, with rclone or with the built-in engine. */
export interface Mover {
  /** Lists a location. @throws Problem if it cannot be read completely. */
  list(place: string, options: MoverOptions): Promise<Listing>;
  /** Copies new and changed files and deletes nothing. Replaced files are moved to `replaced` if it is set. */
  copy(source: string, destination: string, replaced: string | undefined, options: MoverOptions): Promise<JobOutcome>;
  /** Deletes files, or moves them to another location. */
  remove(
    place: string,
    files: readonly PlannedFile[],
    to: string | undefined,
    options: MoverOptions,
  ): Promise<JobOutcome>;
  /** Deletes the empty ones of these folders. */
  removeFolders(place: string, folders: readonly string[], options: MoverOptions): Promise<void>;
  /** Moves all files of a location and overwrites existing ones. */
  move(from: string, to: string, options: MoverOptions): Promise<JobOutcome>;
  /** Deletes a location with its content. Succeeds if it does not exist. */
  purge(place: string, options: MoverOptions): Promise<void>;
}
