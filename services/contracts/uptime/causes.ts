import * as m from '#messages/uptime-causes';
import { z } from 'zod';
import { findCertificateProblem } from '../certificates.ts';
import { getLocalNetworkHint } from '../macos-privacy.ts';
import { readText } from '../text.ts';

/** Failure that a check of Homeport states: a code with the values that its text contains. It is stored. */
export const CodedFailure = z
  .object({ code: z.string(), parameters: z.record(z.string(), z.union([z.string(), z.number()])) })
  .meta({ id: 'UptimeFailure' });
export type CodedFailure = z.infer<typeof CodedFailure>;

/** Message of a failed check: in English, and the failure if a check of Homeport states it. */
export interface CheckMessage {
  readonly msg: string;
  readonly failure?: CodedFailure | undefined;
}

function defineFailure<Shape extends z.ZodRawShape>(
  shape: Shape,
  explain: (values: z.infer<z.ZodObject<Shape>>) => string,
) {
  return { schema: z.object(shape), explain };
}

const none = {};

/** Failures that the checks of Homeport state, with their texts for users. */
const failures = {
  broker_closed: defineFailure(none, () => m.brokerClosed()),
  broker_missing: defineFailure(none, () => m.brokerMissing()),
  broker_refused_topic: defineFailure(none, () => m.brokerRefusedTopic()),
  certificate_untrusted: defineFailure({ reason: z.string() }, ({ reason }) =>
    reason === 'CERT_HAS_EXPIRED'
      ? m.certificateExpired()
      : m.certificateUntrusted({ reason: readText(findCertificateProblem(reason) ?? reason) }),
  ),
  encoding_unknown: defineFailure({ encoding: z.string() }, m.encodingUnknown),
  endless_greeting: defineFailure(none, () => m.endlessGreeting()),
  engine_address_invalid: defineFailure(none, () => m.engineAddressInvalid()),
  engine_missing: defineFailure(none, () => m.engineMissing()),
  engine_response_invalid: defineFailure(none, () => m.engineResponseInvalid()),
  engine_response_too_long: defineFailure(none, () => m.engineResponseTooLong()),
  greeting_unexpected: defineFailure({ greeting: z.string() }, m.greetingUnexpected),
  headers_invalid: defineFailure(none, () => m.headersInvalid()),
  host_invalid: defineFailure({ host: z.string() }, m.hostInvalid),
  json_query_empty: defineFailure(none, () => m.jsonQueryEmpty()),
  json_query_input: defineFailure(none, () => m.jsonQueryInputTooLarge()),
  json_query_memory: defineFailure({ limit: z.number() }, m.jsonQueryMemory),
  json_query_output: defineFailure(none, () => m.jsonQueryOutputTooLarge()),
  json_query_queue: defineFailure(none, () => m.jsonQueryQueueFull()),
  json_query_time: defineFailure(none, () => m.jsonQuerySlow()),
  link_local_refused: defineFailure({ address: z.string() }, m.linkLocalRefused),
  no_greeting: defineFailure(none, () => m.noGreeting()),
  no_response: defineFailure({ seconds: z.number() }, m.noResponseWithin),
  no_starttls: defineFailure(none, () => m.noStartTls()),
  not_redis: defineFailure(none, () => m.notRedis()),
  not_set: defineFailure(none, () => m.notSet()),
  ntp_refused: defineFailure({ reason: z.string() }, m.ntpRefused),
  ntp_unreliable: defineFailure({ summary: z.string() }, m.ntpUnreliable),
  own_port_refused: defineFailure({ port: z.string() }, m.ownPortRefused),
  parameter_names_file: defineFailure({ name: z.string() }, m.parameterNamesFile),
  parameter_unsupported: defineFailure({ name: z.string() }, m.parameterUnsupported),
  postgres_address_invalid: defineFailure(none, () => m.postgresAddressInvalid()),
  proxy_missing: defineFailure(none, () => m.proxyMissing()),
  proxy_refused: defineFailure({ address: z.string(), reason: z.string() }, m.proxyRefused),
  proxy_sign_in_refused: defineFailure({ address: z.string() }, m.proxySignInRefused),
  proxy_unreachable: defineFailure({ address: z.string(), reason: z.string() }, m.proxyUnreachable),
  query_ambiguous: defineFailure(none, () => m.queryAmbiguous()),
  query_empty: defineFailure(none, () => m.queryEmpty()),
  record_type_unknown: defineFailure({ type: z.string() }, m.recordTypeUnknown),
  redirect_invalid: defineFailure(none, () => m.redirectInvalid()),
  redis_address_invalid: defineFailure(none, () => m.redisAddressInvalid()),
  response_too_large: defineFailure({ limit: z.number() }, m.responseTooLarge),
  sign_in_unsupported: defineFailure({ method: z.string() }, m.signInUnsupported),
  socket_file_refused: defineFailure(none, () => m.socketFileRefused()),
  ssl_mode_unknown: defineFailure({ mode: z.string() }, m.sslModeUnknown),
  starttls_refused: defineFailure({ answer: z.string() }, m.startTlsRefused),
} as const;

/** Codes of the failures that the checks of Homeport state, with the types of their parameters. */
export type CheckFailureParameters = {
  readonly [Code in keyof typeof failures]: z.infer<(typeof failures)[Code]['schema']>;
};
/** Code of a failure that a check of Homeport states. */
export type CheckFailureCode = keyof CheckFailureParameters;

type FailureRule = readonly [pattern: RegExp, explain: (match: RegExpExecArray) => string];

/**
 * Error messages of failed checks, from libraries and in the words of Uptime Kuma, whose clients receive them in English,
 * with explanations. The first match applies. Failures that Homeport itself states have a code instead.
 */
const rules: readonly FailureRule[] = [
  [
    /\bE(?:NOTFOUND|NODATA|NONAME)\b(?: (\S+))?/,
    ([, name]) => (name === undefined ? m.anyNameUnknown() : m.nameUnknown({ name })),
  ],
  [
    /\bEAI_AGAIN\b(?: (\S+))?/,
    ([, name]) => (name === undefined ? m.anyNameLookupFailed() : m.nameLookupFailed({ name })),
  ],
  [/\bquery\w+ (?:ECONNREFUSED|ETIMEOUT|ESERVFAIL|EREFUSED)\b/, () => m.nameServerSilent()],
  [
    /\bECONNREFUSED\b(?: (\S+))?/,
    ([, address]) => (address === undefined ? m.connectionRefused() : m.connectionRefusedAt({ address })),
  ],
  [/\bE(?:CONNRESET|PIPE|CONNABORTED)\b|socket hang up/i, () => m.connectionLost()],
  [/\bEHOST(?:UNREACH|DOWN)\b|Destination Host Unreachable/i, () => m.hostUnreachable()],
  [/\bE(?:NETUNREACH|NETDOWN|ADDRNOTAVAIL)\b|Network is unreachable/i, () => m.networkUnreachable()],
  [/timeout of (\d+)ms exceeded/, ([, ms]) => m.noResponseWithin({ seconds: roundToTenths(Number(ms) / 1000) })],
  [/\bE?TIMEDOUT\b/, () => m.noResponseInTime()],
  [/\bCERT_HAS_EXPIRED\b|certificate has expired/, () => m.certificateExpired()],
  [/does not match certificate's altnames/, () => m.certificateOtherName()],
  [/\bEPROTO\b|wrong version number|packet length too long/i, () => m.noTls()],
  [/^Parse Error|\bHPE_/, () => m.noHttp()],
  [/Request failed with status code (\d+)/, ([, code]) => explainStatus(Number(code))],
  [/Unexpected server response: (\d+)/, ([, code]) => explainStatus(Number(code))],
  [/Maximum number of redirects exceeded/, () => m.tooManyRedirects()],
  [/but keyword is not in \[/, () => m.keywordMissing()],
  [/but keyword is present in \[/, () => m.keywordPresent()],
  [
    /JSON query does not pass \(comparing (.*) (\S+) (.*)\)$/s,
    ([, value = '', operator = '', expected = '']) =>
      operator === '==' ? m.valueDiffers({ value, expected }) : m.valueFailsCondition({ value, operator, expected }),
  ],
  [/No heartbeat in the time window/, () => m.jobLate()],
  [/Child monitors down: (.*)$/s, ([, names = '']) => m.groupDown({ names })],
  [/Child monitors pending: (.*)$/s, ([, names = '']) => m.groupPending({ names })],
  [/Container State is (.*)$/, ([, state = '']) => m.containerNotRunning({ state })],
  [/Container is in a paused state/, () => m.containerPaused()],
  [/Container is unhealthy/, () => m.containerUnhealthy()],
  [/Flip UP to DOWN/, () => m.unexpectedlyUp()],
];

/**
 * Explains the message of a failed check; undefined when it needs no explanation or is unknown.
 * @param platform System of the computer that runs the checks, if it is known.
 */
export function explainFailure({ msg, failure }: CheckMessage, platform = ''): string | undefined {
  return explainCodedFailure(failure) ?? explainMessage(msg, platform);
}

/** Returns the text of a failure; undefined for one of another version. */
function explainCodedFailure(failure: CodedFailure | undefined): string | undefined {
  if (failure === undefined || !Object.hasOwn(failures, failure.code)) return undefined;
  // The parameters have the schema of their code, which TypeScript cannot relate here.
  const { schema, explain } = failures[failure.code as CheckFailureCode] as {
    readonly schema: z.ZodType;
    readonly explain: (values: unknown) => string;
  };
  const parsed = schema.safeParse(failure.parameters);
  return parsed.success ? explain(parsed.data) : undefined;
}

function explainMessage(msg: string, platform: string): string | undefined {
  for (const [pattern, explain] of rules) {
    const match = pattern.exec(msg);
    if (match === null) continue;
    const hint = /\bEHOSTUNREACH\b/.test(msg) ? getLocalNetworkHint(msg, platform) : '';
    return `${explain(match)} ${hint}`.trim();
  }
  return undefined;
}

function explainStatus(status: number): string {
  const code = String(status);
  if (status === 401 || status === 407) return m.signInRequired({ code });
  if (status === 403) return m.accessDenied();
  if (status === 404 || status === 410) return m.pageNotFound({ code });
  if (status === 429) return m.tooManyRequests();
  if (status >= 500) return m.serverError({ code });
  if (status >= 300 && status < 400) return m.redirected({ code });
  return m.statusNotAccepted({ code });
}

function roundToTenths(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}
