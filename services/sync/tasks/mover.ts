import type { Listing, PlannedFile } from '../domain/plan.ts';
import type { JobOutcome } from '../jobs/job.ts';

export interface MoverOptions {
  /** Statistics are kept under it. */
  readonly group: string;
  /** As the engine has them: `*.tmp`. */
  readonly exclude: readonly string[];
  readonly signal: AbortSignal;
}

/** What a saved sync is carried out with: rclone, or what we have ourselves. */
export interface Mover {
  /** @throws Problem when it cannot be read to its end. */
  list(place: string, options: MoverOptions): Promise<Listing>;
  /** Makes the destination have what the source has; deletes nothing. What is replaced goes to `replaced`, where given. */
  copy(source: string, destination: string, replaced: string | undefined, options: MoverOptions): Promise<JobOutcome>;
  /** Takes these files away from a place: to another one, or for good. */
  remove(
    place: string,
    files: readonly PlannedFile[],
    to: string | undefined,
    options: MoverOptions,
  ): Promise<JobOutcome>;
  /** Those of these folders that are empty. */
  removeFolders(place: string, folders: readonly string[], options: MoverOptions): Promise<void>;
  /** Moves all that is in a place, over what is at the other. */
  move(from: string, to: string, options: MoverOptions): Promise<JobOutcome>;
  /** Deletes a place with everything in it; one that is not there is fine. */
  purge(place: string, options: MoverOptions): Promise<void>;
}
