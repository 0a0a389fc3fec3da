import * as m from '#messages/data-connect';
import { quoteForShell } from '../../../../../services/contracts/shell-quote.ts';

/** Base URL, key and table of the examples. */
export interface Connection {
  readonly url: string;
  readonly key: string;
  readonly table: string;
  /** The page fits about 30 characters per line. */
  readonly isNarrow: boolean;
}

export type Language = 'js' | 'python' | 'curl' | 'sql';

/** Example request with the prerequisites to run it. */
export interface Example {
  readonly note: string;
  /** Command that installs the client library. */
  readonly install?: string;
  readonly program: string;
}

/** Example requests by language. */
export const examples: Readonly<Record<Language, (connection: Connection) => Example>> = {
  js: ({ url, key, table, isNarrow }) => ({
    note: m.supabaseClientNote(),
    install: 'npm install @supabase/supabase-js',
    program: `import { createClient }${isNarrow ? '\n' : ' '}from '@supabase/supabase-js';

const supabase =${isNarrow ? '\n  ' : ' '}createClient(
  '${url}',
  '${key}',
);
const { data, error } =${isNarrow ? '\n  ' : ' '}await supabase${isNarrow ? '\n    ' : ''}.from('${escapeQuotes(table, "'")}').select();`,
  }),
  python: ({ url, key, table }) => ({
    note: m.withRequestsALibraryFor(),
    install: 'pip install requests',
    program: `import requests

reply = requests.get(
    "${url}/rest/v1/${encodeURIComponent(table)}",
    params={"select": "*", "limit": 20},
    headers={"apikey": "${key}"},
)
reply.raise_for_status()
rows = reply.json()`,
  }),
  curl: ({ url, key, table }) => ({
    note: m.whatEveryProgramCanSend(),
    program: `curl '${url}/rest/v1/${encodeURIComponent(table)}?limit=20' \\
  -H 'apikey: ${key}'`,
  }),
  sql: ({ url, table }) => ({
    note: m.sqlNote(),
    program: `curl '${url}/pg/query' \\
  -H "apikey: $SECRET_KEY" \\
  -H 'content-type: application/json' \\
  -d ${quoteForShell(JSON.stringify({ query: `select * from "${escapeQuotes(table, '"')}" limit 20` }))}`,
  }),
};

function escapeQuotes(text: string, quote: string): string {
  return quote === '"' ? text.replaceAll('"', '""') : text.replaceAll(quote, `\\${quote}`);
}
