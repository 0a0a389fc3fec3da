import pg from 'pg';
import { Problem } from '../../contracts/problem.ts';
import { frameSteps } from './base-schema.ts';
import type { SchemaStep } from './schema-steps.ts';

/** The roles that requests have. */
const roles = ['anon', 'authenticated', 'service_role'] as const;

interface Rights {
  readonly name: string;
  readonly database: string;
  readonly isSuperuser: boolean;
  readonly version: number;
  readonly mayMakeRoles: boolean;
  readonly passesPolicies: boolean;
  readonly mayCreate: boolean;
  readonly mayCreateInPublic: boolean;
  readonly isPrepared: boolean;
  /** Of what another user has prepared: whether its schemas may be added to, and all its tables used. */
  readonly mayAddToFrame: boolean;
  readonly mayUseFrame: boolean;
  /** Of ours, those that are there. */
  readonly roles: readonly { readonly name: string; readonly passesPolicies: boolean; readonly isMine: boolean }[];
}

const statement = `
select current_user as name, current_database() as database, r.rolsuper as "isSuperuser",
  current_setting('server_version_num')::int as version,
  r.rolcreaterole as "mayMakeRoles", r.rolbypassrls as "passesPolicies",
  has_database_privilege(current_database(), 'create') as "mayCreate",
  coalesce((select has_schema_privilege(oid, 'create') from pg_namespace where nspname = 'public'), false) as "mayCreateInPublic",
  exists (select from pg_namespace where nspname = 'homeport') as "isPrepared",
  coalesce((select bool_and(has_schema_privilege(oid, 'usage') and has_schema_privilege(oid, 'create'))
    from pg_namespace where nspname in ('homeport', 'auth')), true) as "mayAddToFrame",
  coalesce((select bool_and(case when c.relkind = 'S' then has_sequence_privilege(c.oid, 'usage') and has_sequence_privilege(c.oid, 'select')
      else has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert') and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete') end)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('homeport', 'auth') and c.relkind in ('r', 'p', 'S')), true) as "mayUseFrame",
  coalesce((select json_agg(json_build_object('name', o.rolname, 'passesPolicies', o.rolbypassrls or o.rolsuper,
      'isMine', pg_has_role(current_user, o.oid, case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end)))
    from pg_roles o where o.rolname = any($1)), '[]') as roles
from pg_roles r where r.rolname = current_user`;

/** What the user of the person's own PostgreSQL may do there. */
async function rightsOf(client: pg.ClientBase): Promise<Rights> {
  const { rows } = await client.query<Rights>(statement, [roles]);
  if (rows[0] === undefined) throw new Error('PostgreSQL does not know its own user');
  return rows[0];
}

/** How the person's own PostgreSQL is used: by which steps of the frame, and what does not work there, as sentences. */
export interface Approach {
  /** Undefined: as a superuser, who makes everything. */
  readonly steps: readonly SchemaStep[] | undefined;
  readonly limits: readonly string[];
}

/**
 * Looks at what may be done there before anything is.
 * @throws Problem `data.missing_rights` (503) that says what an administrator of that server has to run.
 */
export async function approachOf(client: pg.ClientBase): Promise<Approach> {
  const rights = await rightsOf(client);
  if (rights.version < 140_000) {
    throw new Problem('data.old_server', 503, 'The PostgreSQL of the address is too old: 14 or newer is needed.');
  }
  if (rights.isSuperuser) return { steps: undefined, limits: [] };
  const orders = ordersFor(rights);
  if (orders.length > 0) {
    const detail = `The user ${rights.name} of the PostgreSQL address may do too little there. Let an administrator of that server run in the database ${rights.database}: ${orders.join(' ')}`;
    throw new Problem('data.missing_rights', 503, detail);
  }
  return {
    steps: limitedSteps(rights.name),
    limits: [
      `The user ${rights.name} of the PostgreSQL address is no superuser there: changes of tables by other programs are seen within ten seconds, and requests change their role from that user.`,
    ],
  };
}

/** What an administrator has to run; nothing where all can be done. */
function ordersFor(rights: Rights): readonly string[] {
  const user = pg.escapeIdentifier(rights.name);
  const database = pg.escapeIdentifier(rights.database);
  const orders: string[] = [];
  for (const name of roles) {
    const role = rights.roles.find((each) => each.name === name);
    const passes = name === 'service_role';
    // Newer servers let nobody give away the right to pass policies who has it not.
    if (role === undefined && (!rights.mayMakeRoles || (passes && !rights.passesPolicies))) {
      orders.push(`create role ${name} nologin noinherit${passes ? ' bypassrls' : ''};`, `grant ${name} to ${user};`);
    }
    if (role !== undefined && passes && !role.passesPolicies) orders.push(`alter role ${name} bypassrls;`);
    if (role !== undefined && !role.isMine) orders.push(`grant ${name} to ${user};`);
  }
  if (!rights.mayCreate && !rights.isPrepared) orders.push(`grant create on database ${database} to ${user};`);
  if (!rights.mayAddToFrame) orders.push(`grant usage, create on schema homeport, auth to ${user};`);
  if (!rights.mayUseFrame) {
    for (const kind of ['tables', 'sequences'])
      orders.push(`grant all on all ${kind} in schema homeport, auth to ${user};`);
  }
  if (!rights.mayCreateInPublic) orders.push(`grant usage, create on schema public to ${user};`);
  return orders;
}

/** The same frame as far as it can be made without a superuser. */
const limitedFrame: Readonly<Record<string, string>> = {
  'frame-001-roles': `
do $$
declare
  wanted record;
begin
  for wanted in select * from (values
    ('anon', 'nologin noinherit'), ('authenticated', 'nologin noinherit'), ('service_role', 'nologin noinherit bypassrls')
  ) as roles (name, options) loop
    if not exists (select from pg_roles where rolname = wanted.name) then
      execute format('create role %I %s', wanted.name, wanted.options);
      execute format('grant %I to current_user', wanted.name);
    end if;
  end loop;
end $$;
`,
  'frame-002-public': `
grant usage on schema public to anon, authenticated, service_role;
alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
alter default privileges in schema public grant all on sequences to anon, authenticated, service_role;
alter default privileges in schema public grant all on routines to anon, authenticated, service_role;
`,
};

/**
 * Under names of their own: a superuser who comes later still makes the rest. What only its owner may change is not made
 * anew where a superuser has made it, and what new tables let others do is set for each user who makes some.
 */
function limitedSteps(user: string): readonly SchemaStep[] {
  return frameSteps.map(({ name, sql }) => {
    const limited = limitedFrame[name];
    return limited === undefined
      ? { name: `limited-${name}`, sql, unless: name }
      : { name: `limited-${name}-${user}`, sql: limited };
  });
}
