import { z } from 'zod';
import { defineTopic } from '../bus.ts';

/** References of a repository were moved. It names the repository by its number alone, since every person hears it. */
export const gitPushed = defineTopic('git.pushed', z.object({ repository: z.int() }));
