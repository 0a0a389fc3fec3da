import { z } from 'zod';
import { defineTopic } from '../bus.ts';

/**
 * Published when references of a repository moved. Contains only the repository's number, since every account
 * receives it.
 */
export const gitPushed = defineTopic('git.pushed', z.object({ repository: z.int() }), { shared: true });

/** Published when issues or pull requests of a repository changed; identified as in {@link gitPushed}. */
export const gitIssuesChanged = defineTopic('git.issues', z.object({ repository: z.int() }), { shared: true });
