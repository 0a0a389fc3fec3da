import * as kitProblems from '#messages/kit-problems';
import * as m from '#messages/sync-causes';
import * as problems from '#messages/sync-problems';
import { z } from 'zod';
import { Problem, type ProblemOptions } from '../../contracts/problem.ts';
import { ApprovalReason, explainApprovalReason, formatApprovalReason } from './delete-limits.ts';

/** Failure of the service itself. */
export interface ServiceFailure {
  readonly code: string;
  /** Values that the text for users contains. */
  readonly parameters: object;
  /** Sentence in English for clients of rclone's API. */
  readonly error: string;
}

/** Kind of failure of the service, with its texts. */
export interface FailureKind<Parameters extends object> {
  readonly code: string;
  create(parameters: Parameters): ServiceFailure;
  /** Returns the text for users in the current language; undefined for parameters of another version. */
  explain(parameters: unknown): string | undefined;
}

/** Texts of a kind of failure. */
interface FailureTexts<Parameters> {
  /** Sentence in English, as clients of rclone's API receive it. */
  readonly wire: (parameters: Parameters) => string;
  /** Text for users in the current language. */
  readonly explain: (parameters: Parameters) => string;
}

function defineFailure<Parameters extends object>(
  code: string,
  schema: z.ZodType<Parameters>,
  { wire, explain }: FailureTexts<Parameters>,
): FailureKind<Parameters> {
  return {
    code,
    create: (parameters) => ({ code, parameters, error: wire(parameters) }),
    explain: (parameters) => {
      const parsed = schema.safeParse(parameters);
      return parsed.success ? explain(parsed.data) : undefined;
    },
  };
}

const none = z.object({});

/** Causes for which rclone reports no reason, in English. */
const startCauses = { ended: 'it ended immediately', not_ready: 'it was not ready in time' } as const;

/** Failures of the service itself. Their codes and parameters are stored. */
export const failures = {
  link: defineFailure('sync.link', z.object({ path: z.string() }), {
    wire: ({ path }) => `${path} is a link at the destination, and links are left as they are`,
    explain: m.linkAtDestination,
  }),
  changedSince: defineFailure('sync.changed_since', z.object({ path: z.string(), several: z.boolean() }), {
    wire: ({ path, several }) => `${path} was changed since${several ? ', and others' : ''}; nothing was put back.`,
    explain: ({ path, several }) => (several ? m.severalChangedSince({ path }) : m.changedSince({ path })),
  }),
  sourceEmptied: defineFailure('sync.source_emptied', none, {
    wire: () => 'The source became empty; nothing was deleted.',
    explain: () => m.sourceEmptied(),
  }),
  held: defineFailure('sync.held', z.object({ reasons: z.array(ApprovalReason) }), {
    wire: ({ reasons }) => reasons.map(formatApprovalReason).join(' '),
    explain: ({ reasons }) => reasons.map(explainApprovalReason).join(' '),
  }),
  filesFailed: defineFailure('sync.files_failed', z.object({ count: z.number() }), {
    wire: ({ count }) => `${count === 1 ? 'One file' : `${String(count)} files`} failed; all others are done.`,
    explain: m.filesFailed,
  }),
  foldersUnreadable: defineFailure('sync.folders_unreadable', z.object({ count: z.number() }), {
    wire: ({ count }) => `${String(count)} folders could not be read.`,
    explain: m.foldersUnreadable,
  }),
  /** A job was stopped, in rclone's words. */
  stopped: defineFailure('sync.stopped', none, { wire: () => 'context canceled', explain: () => m.stopped() }),
  interrupted: defineFailure('sync.interrupted', none, {
    wire: () => 'interrupted: Homeport was ended while it ran',
    explain: () => m.interrupted(),
  }),
  internal: defineFailure('sync.internal', none, { wire: () => 'an internal error', explain: () => m.internal() }),
  unstated: defineFailure('sync.unstated', none, { wire: () => 'failed', explain: () => m.unstated() }),
  engineMissing: defineFailure('sync.engine_missing', none, {
    wire: () => 'rclone is missing.',
    explain: () => m.engineMissing(),
  }),
  engineFailed: defineFailure(
    'sync.engine_failed',
    z.object({ cause: z.enum(['ended', 'not_ready', 'reported']), reason: z.string() }),
    {
      wire: ({ cause, reason }) => `rclone does not start: ${cause === 'reported' ? reason : startCauses[cause]}.`,
      explain: ({ cause, reason }) => {
        if (cause === 'ended') return problems.engineEnded();
        return cause === 'not_ready' ? problems.engineNotReady() : problems.engineNotStarted({ reason });
      },
    },
  ),
  engineGone: defineFailure('sync.engine_gone', none, {
    wire: () => 'rclone ended during the call.',
    explain: () => problems.engineGone(),
  }),
  configuration: defineFailure('sync.configuration', none, {
    wire: () => 'rclone could not create its encrypted configuration.',
    explain: () => problems.configurationFailed(),
  }),
  keyUnreadable: defineFailure('vault.key_unreadable', none, {
    wire: () => 'The stored key of the remotes could not be read.',
    explain: () => kitProblems.storedKeyUnreadable({ service: 'sync', name: 'remotes' }),
  }),
} as const;

const kindsByCode: ReadonlyMap<string, Pick<FailureKind<never>, 'explain'>> = new Map(
  Object.values(failures).map((kind) => [kind.code, kind]),
);

/**
 * Returns the text of a failure of the service in the current language; undefined for other failures and for parameters
 * of another version.
 */
export function explainServiceFailure(code: string, parameters: unknown): string | undefined {
  return kindsByCode.get(code)?.explain(parameters);
}

/** Problem of a job, which states its failure so that no code has to read the sentence. */
export class FailureProblem extends Problem {
  readonly failure: ServiceFailure;

  /** @param options `text`: text for users instead of that of the failure, such as one with a remedy. */
  constructor(
    status: number,
    failure: ServiceFailure,
    { text, ...options }: ProblemOptions & { readonly text?: () => string } = {},
  ) {
    const explain = (): string => explainServiceFailure(failure.code, failure.parameters) ?? failure.error;
    super(failure.code, status, text ?? explain, options);
    this.failure = failure;
  }
}
