import { day, hour, type House, type Moment } from './moment.ts';

const statements = `
create table plants (id int generated always as identity primary key, owner uuid default auth.uid(),
  name text not null, room text, waters_every interval not null default '7 days', watered_at timestamptz,
  notes jsonb);
create table waterings (id bigint generated always as identity primary key,
  plant_id int not null references plants on delete cascade, at timestamptz not null default now(),
  millilitres int check (millilitres > 0));
create table rooms (name text primary key, light text);
insert into rooms values ('Kitchen', 'bright'), ('Hall', 'dark'), ('Balcony', 'full sun');
insert into plants (name, room, waters_every, watered_at, notes)
  select (array['Basil','Monstera','Aloe','Tomato','Fern','Ivy','Lemon tree','Mint'])[1 + n % 8] || ' ' || n,
  (array['Kitchen','Hall','Balcony'])[1 + n % 3], make_interval(days => 2 + n % 12),
  now() - make_interval(hours => n * 5), case when n % 4 = 0 then '{"pot": "clay", "light": "east"}'::jsonb end
  from generate_series(1, 64) n;
insert into waterings (plant_id, at, millilitres)
  select 1 + n % 64, now() - make_interval(hours => n),
  100 + n % 7 * 50 from generate_series(1, 1800) n;
create view thirsty as select name, room, watered_at + waters_every as due from plants where watered_at + waters_every < now();
alter table plants enable row level security;
create policy "People see their own plants" on plants for all to authenticated
  using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
alter table rooms enable row level security;
create policy "Everybody sees the rooms" on rooms for select using (true);
`;

const queries = [
  ['Thirsty plants', 'select name, room, due\nfrom thirsty\norder by due'],
  [
    'Water a week',
    "select date_trunc('week', at) as week, sum(millilitres) as millilitres\nfrom waterings\ngroup by week\norder by week desc",
  ],
  ['Plants a room', 'select room, count(*) from plants group by room'],
] as const;

/** Tables and users of a self-written app. */
export async function databases({ host, ask }: House): Promise<readonly Moment[]> {
  const sql = async (query: string): Promise<void> => {
    const { error } = await ask('POST', '/data/sql', { query });
    if (error !== null) throw new Error(`${String(error.message)}: ${query}`);
  };
  return [
    {
      ago: 18 * day,
      async run() {
        await sql(statements);
        for (const name of ['ada', 'ben', 'clara', 'dora'])
          await ask('POST', '/data/users', { email: `${name}@home.example`, password: 'harbour-lamp-42' });
        const { users } = await ask('GET', '/data/users');
        const [last] = users;
        for (const [name, text] of queries) await ask('POST', '/data/queries', { name, text });
        await sql(`update plants set owner = '${String(last.id)}' where id % 3 = 0`);
      },
    },
    {
      ago: 2 * hour,
      async run() {
        const { anon } = await ask('GET', '/data/keys');
        for (const name of ['ada', 'clara'])
          await fetch(`${host.url('data')}/auth/v1/token?grant_type=password`, {
            method: 'POST',
            headers: {
              apikey: String(anon),
              'content-type': 'application/json',
              'user-agent': 'Mozilla/5.0 (Linux; Android 16) Chrome/140',
            },
            body: JSON.stringify({ email: `${name}@home.example`, password: 'harbour-lamp-42' }),
          });
      },
    },
  ];
}
