import type { Readable, Writable } from 'node:stream';

/** Program to start as a child process. */
export interface ChildOptions {
  /** Role of the process in the log: `engine`, `upload-pack`. */
  readonly name: string;
  /** Absolute path, or a name that is looked up in PATH. Never run through a shell. */
  readonly file: string;
  /** Passed unchanged; user input must follow `--`. */
  readonly args: readonly string[];
  /** Added to the clean environment of every child process. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly folder?: string;
  /** User to run as, for programs that refuse to run as root. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Folder that is passed as open file descriptor 3, since the child's user may not be able to reach it by path. */
  readonly inheritedFolder?: string;
  /** Stop signal, and time until the process is killed. Default: SIGTERM and 5,000 ms. */
  readonly stop?: { readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGQUIT'; readonly graceMs: number };
  /**
   * The process exits within seconds after its streams close, so no record of it is written to disk. Default false:
   * after a crash of the host, the next start finds and ends the remaining process.
   */
  readonly shortLived?: boolean;
  readonly signal?: AbortSignal;
}

/** Exit code or signal of a child process. */
export interface ChildExit {
  /** Null when a signal ended the process. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Running program, leader of its own process group. Disposal ends the whole group. */
export interface RunningChild extends AsyncDisposable {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the process has ended and its streams are closed. */
  readonly exited: Promise<ChildExit>;
  /** Stops the process, and kills its group after the grace period. Idempotent. */
  stop(): Promise<ChildExit>;
  /** Signals the whole group. Does nothing when it has already ended. */
  kill(signal: 'SIGHUP' | 'SIGINT' | 'SIGKILL' | 'SIGTERM'): void;
}

/** State of a supervised process. `waiting`: it ended and restarts after a pause. */
export type SupervisedState = 'starting' | 'up' | 'waiting' | 'stopped';

/** Callbacks and limits of a supervised program. */
export interface SupervisionOptions {
  /** Resolves when the program can be used; a rejection ends it and counts as a failed start. */
  readonly ready: (child: RunningChild) => Promise<void>;
  /** Called on each change of state; `reason` explains `waiting`. */
  readonly onState?: (state: SupervisedState, reason: string) => void;
}

/** Child process that is restarted whenever it ends. Disposal stops it permanently. */
export interface SupervisedProcess extends AsyncDisposable {
  readonly state: SupervisedState;
  /**
   * Returns the running program once it is ready.
   * @throws Problem `child.stopped` (503) after disposal; the signal's reason when aborted.
   */
  up(signal?: AbortSignal): Promise<RunningChild>;
}

/**
 * Starts and supervises child processes: argument arrays, a clean environment, a process group each, ended with the
 * host.
 */
export interface Children {
  /**
   * @throws Problem `child.missing` (503) when the program does not exist or is not executable; the signal's reason
   * when aborted.
   */
  start(options: ChildOptions): Promise<RunningChild>;
  /** Registers the local address of a running program, such as `http://127.0.0.1:5573`; see `Context.addresses`. */
  registerAddress(child: Pick<RunningChild, 'exited'>, address: string): void;
  /** Starts the program and restarts it whenever it ends, after pauses that grow from 1 s to 60 s. */
  supervise(childOptions: ChildOptions, options: SupervisionOptions): SupervisedProcess;
}
