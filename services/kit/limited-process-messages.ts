/** What the child is told at its start, as JSON in its only argument. */
export interface LimitedProcessArguments {
  /** Address of the module that exports `run`. */
  readonly module: string;
  readonly memoryMb: number;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
}

export interface ToLimitedProcess {
  /** Serialized by `node:v8`. */
  readonly input: Uint8Array;
}

export type FromLimitedProcess =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly value: Uint8Array }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'too-large' };

/** What the watchdog thread of the child needs to know. */
export interface WatchdogData {
  /** One number: when the running evaluation must have ended, in seconds since the epoch; 0 while there is none. */
  readonly deadline: Int32Array<SharedArrayBuffer>;
  readonly maxResidentBytes: number;
  readonly parent: number;
}
