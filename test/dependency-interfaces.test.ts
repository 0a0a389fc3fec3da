import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findDependencyInterfaces } from '../scripts/dependency-interfaces.ts';
import { readSources } from '../scripts/folder-imports.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Maximum number of members of an interface of dependencies. */
const maxMembers = 8;

/** Returns the types of a file that pass collaborators, as the name and the number of members. */
function find(text: string, others: Readonly<Record<string, string>> = {}): readonly string[] {
  const sources = new Map([...Object.entries(others), ['a/file.ts', text]]);
  return findDependencyInterfaces(sources)
    .filter(({ path }) => path === 'a/file.ts')
    .map(({ name, members }) => `${name} ${String(members.length)}`);
}

describe('findDependencyInterfaces', () => {
  it('finds interfaces by their name', () => {
    expect(
      find('interface PushDependencies { readonly send: () => void; readonly limit: number; log(): void }'),
    ).toEqual(['PushDependencies 3']);
    expect(find('interface Exchange { readonly send: () => void }')).toEqual([]);
  });

  it('finds interfaces that a constructor or a factory of the file receives', () => {
    expect(find('interface Tools { run(): void }\nclass Worker { constructor(tools: Tools) {} }')).toEqual(['Tools 1']);
    expect(find('interface Tools { run(): void }\nfunction createWorker(tools: Tools) {}')).toEqual(['Tools 1']);
    expect(find('interface Tools { run(): void }\nfunction print(tools: Tools) {}')).toEqual([]);
  });

  it('finds types that are written with a parameter', () => {
    expect(find('function print({ log }: { log: () => void; error: () => void }) {}')).toEqual(['print 2']);
    expect(find('interface A { a(): void }\ninterface B { b(): void }\nconst print = (each: A & B) => each;')).toEqual([
      'print 2',
    ]);
  });

  it('finds optional and generic types that a constructor receives', () => {
    const tools = 'interface Tools { run?(): void; readonly stop?: () => void }\n';
    expect(find(`${tools}class Worker { constructor(tools?: Tools) {} }`)).toEqual(['Tools 2']);
    expect(find(`${tools}class Worker { constructor(tools: Tools | undefined) {} }`)).toEqual(['Tools 2']);
    expect(find('interface Tools<T> { run(): T }\nclass Worker { constructor(tools: Tools<string>) {} }')).toEqual([
      'Tools 1',
    ]);
    expect(find('interface A { a(): void }\nfunction print(each: (A & { b(): void }) | undefined) {}')).toEqual([
      'print 2',
    ]);
  });

  it('recognizes functions in the arguments and constraints of generic types', () => {
    const types = 'class Store {}\ninterface Box<T> { readonly value: T }\n';
    expect(find(`${types}interface Options { readonly store: Box<Store>; readonly ready: Promise<Store> }`)).toEqual([
      'Options 2',
    ]);
    expect(find(`${types}interface Options<T extends Store> { readonly store: T; readonly box: Box<T> }`)).toEqual([
      'Options 2',
    ]);
    expect(find(`${types}interface Options<T> { readonly row: T; readonly box: Box<T> }`)).toEqual([]);
  });

  it('counts members that are picked by the keys of a type', () => {
    const base = "type Keys = 'one' | 'two';\ninterface Base { one(): void; two(): void; three(): void }\n";
    expect(find(`${base}type Options = Pick<Base, Keys>;`)).toEqual(['Options 2']);
    expect(find(`${base}interface Part { one(): void }\ntype Options = Omit<Base, keyof Part>;`)).toEqual([
      'Options 2',
    ]);
  });

  it('ignores records of data', () => {
    expect(find('interface Options { readonly name: string; readonly rows: readonly Date[]; done(): void }')).toEqual(
      [],
    );
  });

  it('counts inherited members, and those of other files', () => {
    const others = { 'a/base.ts': 'export interface Base { one(): void; two(): void }' };
    const importBase = "import type { Base } from './base.ts';\n";
    expect(find(`${importBase}interface Options extends Base { three(): void }`, others)).toEqual(['Options 3']);
    expect(find(`${importBase}type Options = Pick<Base, 'one'> & { three(): void };`, others)).toEqual(['Options 2']);
    expect(find(`${importBase}type Options = Omit<Base, 'one'>;`, others)).toEqual(['Options 1']);
  });

  it('counts a member of several types once', () => {
    expect(find('interface A { a(): void; b(): void }\ntype Options = A & { a(): void };')).toEqual(['Options 2']);
  });

  it('recognizes objects with functions', () => {
    const others = { 'a/base.ts': 'export class Store {}\nexport interface Row { readonly id: number }' };
    const text = "import type { Row, Store } from './base.ts';\nimport type { Kysely } from 'kysely';\n";
    expect(find(`${text}interface Options { readonly store: Store; readonly db: Kysely }`, others)).toEqual([
      'Options 2',
    ]);
    expect(find(`${text}interface Options { readonly row: Row; readonly rows: readonly Row[] }`, others)).toEqual([]);
  });
});

describe('interfaces of dependencies', () => {
  it(`have at most ${String(maxMembers)} members`, async () => {
    const sources = await readSources(root, ['main', 'services', 'renderer/src']);
    const found = findDependencyInterfaces(new Map([...sources].filter(([path]) => path.endsWith('.ts'))));
    expect(found.length).toBeGreaterThan(300);
    // The context of a service and its extensions are the published interface of the host.
    const inner = found.filter(({ path }) => !path.startsWith('services/contracts/'));
    const tooLarge = inner.filter(({ members }) => members.length > maxMembers);
    expect(tooLarge.map(({ path, name, members }) => `${path} ${name}: ${String(members.length)}`)).toEqual([]);
  });
});
