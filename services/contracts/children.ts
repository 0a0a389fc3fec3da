import type { Readable, Writable } from 'node:stream';

/** A program to run beside the host. */
export interface ChildOptions {
  /** What it is to the service, as the log names it: `engine`, `upload-pack`. */
  readonly name: string;
  /** Absolute path, or a name that PATH knows. Never a shell. */
  readonly file: string;
  /** As they are handed over; a text of a user goes behind `--`. */
  readonly args: readonly string[];
  /** Beside the little that every child gets; nothing else of ours reaches it. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly folder?: string;
  /** Runs as this user: for a program that refuses to be root, where we are. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** A folder that is handed over open, as descriptor 3: its user may have no way there by path. */
  readonly inheritedFolder?: string;
  /** How it is asked to end, and how long it may take before it is killed. Default: SIGTERM and 5,000 ms. */
  readonly stop?: { readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGQUIT'; readonly graceMs: number };
  /**
   * Ends by itself when its streams break, and within seconds: no note is kept of it on disk. Default false: should the
   * host be killed, the next start finds what is left of it and ends it.
   */
  readonly shortLived?: boolean;
  readonly signal?: AbortSignal;
}

export interface ChildExit {
  /** Null: ended by a signal. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program that runs, at the head of a process group of its own. Disposal ends it and all it started. */
export interface RunningChild extends AsyncDisposable {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when it has ended and its streams are closed. */
  readonly exited: Promise<ChildExit>;
  /** Asks it to end, and kills it and its group when it does not. Safe to call again. */
  stop(): Promise<ChildExit>;
  /** To the whole group. One that is gone is fine. */
  kill(signal: 'SIGHUP' | 'SIGINT' | 'SIGKILL' | 'SIGTERM'): void;
}

/** Where a supervised program stands. `waiting`: it ended, and starts again after a pause. */
export type SupervisedState = 'starting' | 'up' | 'waiting' | 'stopped';

export interface SupervisionOptions {
  /** Resolves when the program can be used; a rejection ends it and counts as a failed start. */
  readonly ready: (child: RunningChild) => Promise<void>;
  /** Told of each change; `reason` says why it waits. */
  readonly onState?: (state: SupervisedState, reason: string) => void;
}

/** A program that is kept running. Disposal stops it for good. */
export interface SupervisedProcess extends AsyncDisposable {
  readonly state: SupervisedState;
  /** The running program once it is ready. @throws Problem `child.stopped` (503) after disposal; the signal's reason. */
  up(signal?: AbortSignal): Promise<RunningChild>;
}

/** Programs beside the host: argument arrays, a clean environment, a group of their own, ended with the host. */
export interface Children {
  /** @throws Problem `child.missing` (503) when there is no such program or it may not be run; the signal's reason. */
  start(options: ChildOptions): Promise<RunningChild>;
  /** Notes where a program answers on this machine while it runs: `http://127.0.0.1:5573`; see `Context.addresses`. */
  registerAddress(child: RunningChild, address: string): void;
  /** Starts it now and again whenever it ends, after growing pauses: 1 s at first, 60 s at most. */
  supervise(childOptions: ChildOptions, options: SupervisionOptions): SupervisedProcess;
}
