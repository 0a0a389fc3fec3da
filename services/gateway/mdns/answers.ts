import type { Answer, Packet, Question } from 'dns-packet';

/** Announced names of this computer and their services. */
export interface AnnouncedNames {
  /** `nas.local`, `push.nas.local` */
  readonly names: readonly string[];
  /** Service instances of type `_https._tcp`. */
  readonly services: readonly AnnouncedService[];
}

export interface AnnouncedService {
  /** Instance name for display: `Push on nas`. */
  readonly title: string;
  readonly host: string;
  readonly port: number;
}

const serviceType = '_https._tcp.local';
const serviceTypesName = '_services._dns-sd._udp.local';
/** TTLs of RFC 6762: two minutes for host names, 75 minutes for services. */
const hostTtl = 120;
const serviceTtl = 4500;

/** Returns true for unique records, for which caches are flushed. */
const isUniqueType = (type: string): boolean => type !== 'PTR';

/** Returns all records to announce, with the addresses of this computer. */
export function buildRecords({ names, services }: AnnouncedNames, addresses: readonly string[]): Answer[] {
  const hostRecords = names.flatMap((name): Answer[] => [
    ...addresses.map((data): Answer => ({ name, type: data.includes(':') ? 'AAAA' : 'A', ttl: hostTtl, data })),
    // NSEC records state missing record types, so that clients do not wait for them.
    {
      name,
      type: 'NSEC',
      ttl: hostTtl,
      data: { nextDomain: name, rrtypes: [...new Set(addresses.map((each) => (each.includes(':') ? 'AAAA' : 'A')))] },
    },
  ]);
  const serviceRecords = services.flatMap(({ title, host, port }): Answer[] => {
    const name = `${title.replaceAll('.', ' ')}.${serviceType}`;
    return [
      { name: serviceType, type: 'PTR', ttl: serviceTtl, data: name },
      { name, type: 'SRV', ttl: hostTtl, data: { target: host, port, priority: 0, weight: 0 } },
      { name, type: 'TXT', ttl: serviceTtl, data: ['path=/'] },
    ];
  });
  const typeRecords: Answer[] =
    services.length === 0 ? [] : [{ name: serviceTypesName, type: 'PTR', ttl: serviceTtl, data: serviceType }];
  return [...hostRecords, ...serviceRecords, ...typeRecords];
}

/** Returns the answers to questions and likely additional records; empty for questions about other names. */
export function findAnswers(
  { questions = [], answers: knownAnswer = [] }: Packet,
  records: readonly Answer[],
): { readonly answers: Answer[]; readonly additionals: Answer[] } {
  const matching = records.filter((record) => questions.some((question) => isAnswer(record, question)));
  const unknown = matching.filter((record) => !knownAnswer.some((each) => isKnownAnswer(each, record)));
  const answers = unknown.filter(
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

/** Omits answers that the query lists as known. */
function isKnownAnswer(knownAnswer: Answer, record: Answer): boolean {
  if (knownAnswer.type !== record.type || knownAnswer.name.toLowerCase() !== record.name.toLowerCase()) return false;
  if (!('data' in knownAnswer && 'data' in record && 'ttl' in knownAnswer && 'ttl' in record)) return false;
  return knownAnswer.data === record.data && (knownAnswer.ttl ?? 0) >= (record.ttl ?? 0) / 2;
}

/** Cache-flush bit: receivers replace their cached records. */
export function withFlushBit(records: readonly Answer[]): Answer[] {
  return records.map((each) => (isUniqueType(each.type) ? ({ ...each, flush: true } as Answer) : each));
}

/** Returns the names for which another computer announces other addresses. */
export function findConflicts(
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
