import type { Answer, Call } from '../http/auth-call.ts';
import type { AuthParts } from '../dependencies.ts';

/** Method, path below `/auth/v1` in which `*` matches one segment, and handler. */
export type Route = readonly [method: string, path: string, answer: (parts: AuthParts, call: Call) => Promise<Answer>];
