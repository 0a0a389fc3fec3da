import { z } from 'zod';
import { defineTopic } from '../bus.ts';

/** A push, or a change made over the API, has moved references of a repository. */
export const gitPushed = defineTopic(
  'git.pushed',
  z.object({ repository: z.int(), owner: z.string(), name: z.string() }),
);
