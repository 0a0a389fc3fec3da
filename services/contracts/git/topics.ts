import { z } from 'zod';
import { defineTopic } from '../bus.ts';

/** References of a repository were moved. It names the repository by its number alone, since every person hears it. */
export const gitPushed = defineTopic('git.pushed', z.object({ repository: z.int() }));

/** Issues or pull requests of a repository were changed; it is named as in {@link gitPushed}. */
export const gitIssuesChanged = defineTopic('git.issues', z.object({ repository: z.int() }));
