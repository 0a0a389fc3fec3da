/** Where an app finds the rows, and with what. */
export interface Connection {
  readonly url: string;
  /** The publishable key. */
  readonly key: string;
  readonly table: string;
  /** A page that has room for 30 letters in a line. */
  readonly isNarrow: boolean;
}

/** Languages that a first request is shown in. */
export type Language = 'js' | 'python' | 'curl' | 'sql';

/** A first request that works as it is copied, and what has to be there for it. */
export interface Example {
  readonly words: string;
  /** What brings the library that the program uses. */
  readonly install?: string;
  readonly program: string;
}

/** The first request of an app in each language. */
export const examples: Readonly<Record<Language, (connection: Connection) => Example>> = {
  js: ({ url, key, table, isNarrow }) => ({
    words: 'Supabase’s own client, unchanged, in a browser or on a server.',
    install: 'npm install @supabase/supabase-js',
    program: `import { createClient }${isNarrow ? '\n' : ' '}from '@supabase/supabase-js';

const supabase =${isNarrow ? '\n  ' : ' '}createClient(
  '${url}',
  '${key}',
);
const { data, error } =${isNarrow ? '\n  ' : ' '}await supabase${isNarrow ? '\n    ' : ''}.from('${quotedIn(table, "'")}').select();`,
  }),
  python: ({ url, key, table }) => ({
    words: 'With Requests, a library for calls over HTTP.',
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
    words: 'What every program can send, as PostgREST reads it.',
    program: `curl '${url}/rest/v1/${encodeURIComponent(table)}?limit=20' \\
  -H 'apikey: ${key}'`,
  }),
  sql: ({ url, table }) => ({
    words:
      'Statements from a script, with the secret key below. The PostgreSQL that Homeport brings along takes no connection of psql; one of your own, named under Settings, does.',
    program: `curl '${url}/pg/query' \\
  -H "apikey: $SECRET_KEY" \\
  -H 'content-type: application/json' \\
  -d '${JSON.stringify({ query: `select * from "${quotedIn(table, '"')}" limit 20` }).replaceAll("'", String.raw`'\''`)}'`,
  }),
};

function quotedIn(text: string, quote: string): string {
  return quote === '"' ? text.replaceAll('"', '""') : text.replaceAll(quote, `\\${quote}`);
}
