import type { Answer, Packet, Question } from 'dns-packet';

/** What is announced: names of this machine and the services behind them. */
export interface Announced {
  /** `nas.local`, `push.nas.local` */
  readonly names: readonly string[];
  /** Found by who looks for `_https._tcp`. */
  readonly services: readonly AnnouncedService[];
}

export interface AnnouncedService {
  /** As people see it: `Push on nas`. */
  readonly title: string;
  readonly host: string;
  readonly port: number;
}

const kind = '_https._tcp.local';
const kinds = '_services._dns-sd._udp.local';
/** Names of machines are asked for anew after two minutes, what services there are after more than an hour: RFC 6762. */
const hostTtl = 120;
const serviceTtl = 4500;

/** Whether a record is told by nobody but this machine, so that others forget what they heard before. */
const isOurs = (type: string): boolean => type !== 'PTR';

/** Everything that is told on the network, with addresses of this machine. */
export function recordsOf({ names, services }: Announced, addresses: readonly string[]): Answer[] {
  const ofHosts = names.flatMap((name): Answer[] => [
    ...addresses.map((data): Answer => ({ name, type: data.includes(':') ? 'AAAA' : 'A', ttl: hostTtl, data })),
    // Says at once what there is not: who asks for both waits for neither.
    {
      name,
      type: 'NSEC',
      ttl: hostTtl,
      data: { nextDomain: name, rrtypes: [...new Set(addresses.map((each) => (each.includes(':') ? 'AAAA' : 'A')))] },
    },
  ]);
  const ofServices = services.flatMap(({ title, host, port }): Answer[] => {
    const name = `${title.replaceAll('.', ' ')}.${kind}`;
    return [
      { name: kind, type: 'PTR', ttl: serviceTtl, data: name },
      { name, type: 'SRV', ttl: hostTtl, data: { target: host, port, priority: 0, weight: 0 } },
      { name, type: 'TXT', ttl: serviceTtl, data: ['path=/'] },
    ];
  });
  const ofKinds: Answer[] = services.length === 0 ? [] : [{ name: kinds, type: 'PTR', ttl: serviceTtl, data: kind }];
  return [...ofHosts, ...ofServices, ...ofKinds];
}

/** The records that answer questions, and what who asked will ask for next; nothing where they are not about us. */
export function answersTo(
  { questions = [], answers: known = [] }: Packet,
  records: readonly Answer[],
): { readonly answers: Answer[]; readonly additionals: Answer[] } {
  const asked = records.filter((record) => questions.some((question) => isAnswer(record, question)));
  const wanted = asked.filter((record) => !known.some((each) => isKnown(each, record)));
  const answers = wanted.filter(
    ({ type }, _index, all) => type !== 'NSEC' || all.every((each) => each.type === 'NSEC'),
  );
  const targets = new Set(answers.flatMap((each) => (each.type === 'PTR' ? [each.data] : [])));
  const hosts = new Set(
    [...answers, ...records.filter(({ name }) => targets.has(name))].flatMap((each) =>
      each.type === 'SRV' ? [each.data.target] : [],
    ),
  );
  const additionals =
    answers.length === 0
      ? []
      : records.filter(
          (record) =>
            !answers.includes(record) &&
            (targets.has(record.name) ||
              hosts.has(record.name) ||
              (record.type === 'NSEC' && answers.some(({ name }) => name === record.name))),
        );
  return { answers, additionals };
}

function isAnswer(record: Answer, question: Question): boolean {
  const { name } = question;
  const type: string = question.type;
  if (record.name.toLowerCase() !== name.toLowerCase()) return false;
  if (type === 'ANY' || record.type === type) return true;
  return record.type === 'NSEC' && (type === 'A' || type === 'AAAA');
}

/** Who asks says what it has heard already and still believes. */
function isKnown(known: Answer, record: Answer): boolean {
  if (known.type !== record.type || known.name.toLowerCase() !== record.name.toLowerCase()) return false;
  if (!('data' in known && 'data' in record && 'ttl' in known && 'ttl' in record)) return false;
  return known.data === record.data && (known.ttl ?? 0) >= (record.ttl ?? 0) / 2;
}

/** Others forget what they heard of it before. */
export function flushed(records: readonly Answer[]): Answer[] {
  return records.map((each) => (isOurs(each.type) ? ({ ...each, flush: true } as Answer) : each));
}

/** Names of ours that another machine says to be its own: records with other addresses than this machine has. */
export function claimedByOthers(
  { answers = [], authorities = [] }: Packet,
  names: readonly string[],
  addresses: readonly string[],
): { readonly name: string; readonly by: string }[] {
  return [...answers, ...authorities].flatMap((each) => {
    if ((each.type !== 'A' && each.type !== 'AAAA') || (each.ttl ?? 0) === 0) return [];
    const name = each.name.toLowerCase();
    return names.includes(name) && !addresses.includes(each.data) ? [{ name, by: each.data }] : [];
  });
}
