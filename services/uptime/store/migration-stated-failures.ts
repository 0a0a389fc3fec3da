import type { Kysely } from 'kysely';
import type { Migration } from '../../contracts/service.ts';
import type { CodedFailure } from '../../contracts/uptime/causes.ts';

type SentenceRule = readonly [sentence: RegExp, code: string, numbers?: readonly string[]];

/** Start of a sentence, which follows the name of the monitor in an incident. */
const start = '(?:^|: )';

function startsWith(sentence: string, code: string, numbers?: readonly string[]): SentenceRule {
  const pattern = new RegExp(`${start}${sentence}`);
  return numbers === undefined ? [pattern, code] : [pattern, code, numbers];
}

/** Sentences of older versions, which stored no codes. Named groups are the parameters. */
const rules: readonly SentenceRule[] = [
  startsWith('The broker ended the connection', 'broker_closed'),
  startsWith('A broker and a topic are needed', 'broker_missing'),
  startsWith('The broker refuses the topic', 'broker_refused_topic'),
  startsWith('certificate is not trusted: (?:[^()]+ \\()?(?<reason>[A-Z][A-Z_]+)\\)?$', 'certificate_untrusted'),
  startsWith('The answer has an unknown encoding: (?<encoding>.*)', 'encoding_unknown'),
  startsWith('The greeting has no end', 'endless_greeting'),
  startsWith('The address of the container engine is none', 'engine_address_invalid'),
  startsWith('The container engine is not known any more', 'engine_missing'),
  startsWith('The answer is not that of a container engine', 'engine_response_invalid'),
  startsWith('The answer of the container engine is too long', 'engine_response_too_long'),
  startsWith('The server greets with (?<greeting>[^]*)', 'greeting_unexpected'),
  startsWith('The headers are not a JSON object', 'headers_invalid'),
  startsWith('(?<host>\\S+) is not a host name$', 'host_invalid'),
  startsWith('The JSON query found nothing', 'json_query_empty'),
  startsWith('The answer is too large for a JSON query', 'json_query_input'),
  startsWith('The JSON query needs more than (?<limit>\\d+) MB of memory', 'json_query_memory', ['limit']),
  startsWith('The result of the JSON query is too large', 'json_query_output'),
  startsWith('Too many JSON queries are waiting', 'json_query_queue'),
  startsWith('The JSON query takes too long', 'json_query_time'),
  startsWith('(?<address>\\S+) is a link-local or cloud metadata address', 'link_local_refused'),
  startsWith('The server hung up without a greeting', 'no_greeting'),
  startsWith('no answer within (?<seconds>[\\d.]+) s\\b', 'no_response', ['seconds']),
  startsWith('The server does not offer STARTTLS', 'no_starttls'),
  startsWith('What answers is no Redis', 'not_redis'),
  startsWith('Nobody has set it yet', 'not_set'),
  startsWith('The server refuses: (?<reason>\\w*)', 'ntp_refused'),
  startsWith('Not a time to go by\\. (?<summary>.*)', 'ntp_unreliable'),
  startsWith('Port (?<port>\\d+) belongs to Homeport itself', 'own_port_refused'),
  startsWith('The parameter (?<name>\\S+) names a file, which is not read', 'parameter_names_file'),
  startsWith('The parameter (?<name>\\S+) of a connection string is not supported', 'parameter_unsupported'),
  startsWith('The connection string begins with postgres://', 'postgres_address_invalid'),
  startsWith('The query returned several values', 'query_ambiguous'),
  startsWith('The query returned no result to compare', 'query_empty'),
  startsWith('There are no records of type (?<type>.*)', 'record_type_unknown'),
  startsWith('Redirected to an address that is none', 'redirect_invalid'),
  startsWith('The connection string begins with redis://', 'redis_address_invalid'),
  startsWith('The server sends more than (?<limit>\\d+) MiB', 'response_too_large', ['limit']),
  startsWith('The sign-in (?<method>\\S+) is not supported', 'sign_in_unsupported'),
  startsWith('A connection string cannot name a socket file', 'socket_file_refused'),
  startsWith('There is no sslmode (?<mode>.*)', 'ssl_mode_unknown'),
  startsWith('The server answers STARTTLS with (?<answer>[^]*)', 'starttls_refused'),
];

function parseSentence(text: string): CodedFailure | undefined {
  for (const [sentence, code, numbers = []] of rules) {
    const match = sentence.exec(text);
    if (match === null) continue;
    const entries = Object.entries(match.groups ?? {});
    const parameters = entries.map(([name, value]) => [name, numbers.includes(name) ? Number(value) : value] as const);
    return { code, parameters: Object.fromEntries(parameters) };
  }
  return undefined;
}

/**
 * Stores the code and the parameters of failures that checks state, so that pages show them in the language of the reader.
 */
export const statedFailures: Migration = {
  name: '008-stated-failures',
  async up(db) {
    await db.schema.alterTable('messages').addColumn('failure', 'text').execute();
    await db.schema.alterTable('incidents').addColumn('failure', 'text').execute();
    await convertSentences(db, 'messages', 'text');
    await convertSentences(db, 'incidents', 'cause');
    await convertStates(db);
  },
};

async function convertSentences(db: Kysely<any>, table: string, column: string): Promise<void> {
  for (const row of await db.selectFrom(table).select(['id', column]).execute()) {
    const { id, [column]: text } = row as Record<string, unknown>;
    const failure = parseSentence(String(text));
    if (failure === undefined) continue;
    await db
      .updateTable(table)
      .set({ failure: JSON.stringify(failure) })
      .where('id', '=', id)
      .execute();
  }
}

/** Converts the latest message of each monitor. */
async function convertStates(db: Kysely<any>): Promise<void> {
  const rows = await db.selectFrom('standings').select(['monitor_id', 'body']).execute();
  for (const { monitor_id: id, body } of rows as readonly { monitor_id: number; body: string }[]) {
    const state = JSON.parse(body) as { readonly standing?: { readonly msg?: string } };
    const failure = parseSentence(state.standing?.msg ?? '');
    if (failure === undefined) continue;
    const converted = { ...state, standing: { ...state.standing, failure } };
    await db
      .updateTable('standings')
      .set({ body: JSON.stringify(converted) })
      .where('monitor_id', '=', id)
      .execute();
  }
}
