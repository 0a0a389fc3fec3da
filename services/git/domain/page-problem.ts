import { Problem, type ProblemOptions } from '../../contracts/problem.ts';

/**
 * A problem with a detail that pages show unchanged. The details of other problems follow Gitea, whose clients are programs;
 * pages show a separate message for them (`app-api/page-messages.ts`).
 */
export class PageProblem extends Problem {}

/** A problem with the detail of Gitea for programs, in English, and another one for pages. */
export class GiteaProblem extends Problem {
  readonly pageDetail: string;

  constructor(code: string, status: number, detail: string, pageDetail: string, options?: ProblemOptions) {
    super(code, status, detail, options);
    this.pageDetail = pageDetail;
  }
}
