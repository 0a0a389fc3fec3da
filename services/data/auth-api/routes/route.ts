import type { Answer, Call } from '../http/auth-call.ts';
import type { AuthParts } from '../dependencies.ts';

/** A method, a path below `/auth/v1` in which `*` stands for one part, and what answers. */
export type Route = readonly [method: string, path: string, answer: (parts: AuthParts, call: Call) => Promise<Answer>];
