/** Arguments of the child, as JSON in its only command line argument. */
export interface LimitedProcessArguments {
  /** Address of the module that exports `run`. */
  readonly module: string;
  readonly memoryMb: number;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
}

/** Message from Homeport to a limited process. */
export interface ToLimitedProcess {
  /** Serialized by `node:v8`. */
  readonly input: Uint8Array;
}

/** Message from a limited process to Homeport. */
export type FromLimitedProcess =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly value: Uint8Array }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'too-large' };

/** Data of the watchdog thread. */
export interface WatchdogData {
  /** Single number: end of the running evaluation in seconds since the epoch; 0 while there is none. */
  readonly deadline: Int32Array<SharedArrayBuffer>;
  readonly maxResidentBytes: number;
  readonly parent: number;
}
