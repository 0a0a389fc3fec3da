import { Problem } from '../../contracts/problem.ts';

/**
 * A problem with a detail that pages show unchanged. The details of other problems follow Gitea, whose clients are programs;
 * pages show a separate message for them (`app-api/page-messages.ts`).
 */
export class PageProblem extends Problem {}
