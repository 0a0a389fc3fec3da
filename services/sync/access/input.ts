/** Parameters of a call. */
export type Input = Record<string, unknown>;
