import { findCertificateProblem } from '../../contracts/certificates.ts';
import { readText } from '../../contracts/text.ts';
import type { CheckFailureCode, CheckFailureParameters } from '../../contracts/uptime/causes.ts';

/** Failures that the checks state, in English, as clients of Uptime Kuma and the log receive them. */
export const failureSentences: {
  readonly [Code in CheckFailureCode]: (parameters: CheckFailureParameters[Code]) => string;
} = {
  broker_closed: () => 'The broker closed the connection',
  broker_missing: () => 'The monitor needs a broker and a topic',
  broker_refused_topic: () => 'The broker rejected the topic',
  certificate_untrusted: ({ reason }) => {
    const problem = findCertificateProblem(reason);
    return `certificate is not trusted: ${problem === undefined ? reason : `${readText(problem)} (${reason})`}`;
  },
  encoding_unknown: ({ encoding }) => `The response has an unknown encoding: ${encoding}`,
  endless_greeting: () => 'The greeting of the server is too long',
  engine_address_invalid: () => 'The address of the container engine is not valid',
  engine_missing: () => 'The container engine of this monitor no longer exists',
  engine_response_invalid: () => 'The response is not from a container engine',
  engine_response_too_long: () => 'The response from the container engine is too long',
  greeting_unexpected: ({ greeting }) => `Unexpected greeting from the server: ${greeting}`,
  headers_invalid: () => 'The headers of the monitor are not a JSON object',
  host_invalid: ({ host }) => `${host} is not a valid host name`,
  json_query_empty: () => 'The JSON query found nothing',
  json_query_input: () => 'The response is too large for a JSON query',
  json_query_memory: ({ limit }) => `The JSON query needs more than ${String(limit)} MB of memory`,
  json_query_output: () => 'The result of the JSON query is too large',
  json_query_queue: () => 'Too many JSON queries are waiting',
  json_query_time: () => 'The JSON query took too long',
  link_local_refused: ({ address }) =>
    `${address} is a link-local or cloud metadata address. You can allow such addresses in the Uptime settings`,
  no_greeting: () => 'The server closed the connection without a greeting',
  no_response: ({ seconds }) => `no response within ${String(seconds)} s`,
  no_starttls: () => 'The server does not offer STARTTLS',
  not_redis: () => 'The server is not Redis',
  not_set: () => 'No status has been set yet',
  ntp_refused: ({ reason }) => `The server rejected the request: ${reason}`,
  ntp_unreliable: ({ summary }) => `The time of the server is not reliable. ${summary}`,
  own_port_refused: ({ port }) =>
    `Port ${port} belongs to Homeport. Monitor its start page or health page, or use a TCP port monitor`,
  parameter_names_file: ({ name }) =>
    `The connection string parameter ${name} contains a file name, which is not read. ` +
    'Enter the text of the certificate (PEM)',
  parameter_unsupported: ({ name }) => `The connection string parameter ${name} is not supported`,
  postgres_address_invalid: () => 'The connection string must start with postgres://',
  proxy_missing: () => 'The proxy of this monitor no longer exists',
  proxy_refused: ({ address, reason }) => `The proxy ${address} refused the connection: ${reason}`,
  proxy_sign_in_refused: ({ address }) => `The proxy ${address} rejected the user name or password`,
  proxy_unreachable: ({ address, reason }) => `The proxy ${address} cannot be reached: ${reason}`,
  query_ambiguous: () => 'The query returned several values. Conditions can compare only one value',
  query_empty: () => 'The query returned no value to compare',
  record_type_unknown: ({ type }) => `${type} is not a DNS record type`,
  redirect_invalid: () => 'Redirected to an invalid URL',
  redis_address_invalid: () => 'The connection string must start with redis:// or rediss://',
  response_too_large: ({ limit }) => `The response is larger than ${String(limit)} MiB`,
  sign_in_unsupported: ({ method }) => `The sign-in method ${method} is not supported`,
  socket_file_refused: () => 'A connection string cannot use a socket file',
  ssl_mode_unknown: ({ mode }) => `The sslmode value ${mode} is not valid`,
  starttls_refused: ({ answer }) => `The server rejected STARTTLS: ${answer}`,
};
