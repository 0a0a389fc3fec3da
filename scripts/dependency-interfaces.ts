import { dirname, join } from 'node:path/posix';
import ts from 'typescript';

/** Type whose members are collaborators that are passed to a constructor or a function. */
export interface DependencyInterface {
  /** Name of the type, or of the function for a type that is written with its parameter. */
  readonly name: string;
  readonly path: string;
  /** Names of the members, inherited ones included. */
  readonly members: readonly string[];
}

type TypeDeclaration = ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.ClassDeclaration | ts.EnumDeclaration;

interface Source {
  readonly path: string;
  readonly file: ts.SourceFile;
  readonly declarations: ReadonlyMap<string, TypeDeclaration>;
  /** Files and original names of imported types. */
  readonly imports: ReadonlyMap<string, { readonly path: string; readonly name: string }>;
}

/** A type with the file in which its names are resolved. */
interface Scoped<T extends ts.Node> {
  readonly node: T;
  readonly source: Source;
}

interface Candidate extends Scoped<ts.Node> {
  readonly name: string;
}

/** Names of types that pass collaborators wherever they are declared. */
const dependencyName = new RegExp(
  '(?:Dependencies|Collaborators|Context|Services|Components|Features|Parts|Options|Environment|Providers|Actions)$',
);
const factoryName = /^(?:create|open|compose|build)(?=[A-Z]|$)/;
const mappedTypes = new Set(['Partial', 'Readonly', 'Required', 'Pick', 'Omit']);
/** Generic types of the language whose instances are data when their arguments are. */
const dataContainers = new Set([
  ...mappedTypes,
  ...['Array', 'ReadonlyArray', 'Map', 'ReadonlyMap', 'Set', 'ReadonlySet', 'Record', 'Promise'],
  ...['NonNullable', 'Extract', 'Exclude'],
]);
const dataClasses = new Set(['Date', 'URL', 'Buffer', 'Uint8Array', 'RegExp', 'AbortSignal', 'Error', 'Temporal']);

/**
 * Finds the types that pass collaborators: those with a name such as `PublisherDependencies`, those that a constructor
 * or a factory of the same file receives, and those that are written with a parameter. More than half of their members
 * are functions, or objects with functions. Types with fewer are records of data.
 *
 * @param sources texts of the source files by path
 */
export function findDependencyInterfaces(sources: ReadonlyMap<string, string>): readonly DependencyInterface[] {
  const parsed = new Map([...sources].map(([path, text]) => [path, parseSource(path, text)] as const));
  const types = new TypeReader(parsed);
  return [...parsed.values()].flatMap((source) =>
    findCandidates(source).flatMap((candidate) => {
      const members = types.listMembers(candidate);
      const collaborators = members.filter((member) => types.isCollaborator(member));
      if (collaborators.length * 2 <= members.length) return [];
      const names = new Set(members.map(({ node: { name } }) => name?.getText() ?? ''));
      return [{ name: candidate.name, path: source.path, members: [...names] }];
    }),
  );
}

function parseSource(path: string, text: string): Source {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const declarations = new Map<string, TypeDeclaration>();
  const imports = new Map<string, { path: string; name: string }>();
  for (const statement of file.statements) {
    if (isTypeDeclaration(statement) && statement.name) declarations.set(statement.name.text, statement);
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const target = statement.moduleSpecifier.text;
    const bindings = statement.importClause?.namedBindings;
    if (!bindings || !ts.isNamedImports(bindings)) continue;
    for (const { name, propertyName } of bindings.elements) {
      const imported = target.startsWith('.') ? join(dirname(path), target) : target;
      imports.set(name.text, { path: imported, name: (propertyName ?? name).text });
    }
  }
  return { path, file, declarations, imports };
}

function isTypeDeclaration(node: ts.Node): node is TypeDeclaration {
  return (
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isEnumDeclaration(node)
  );
}

/** Finds the types of a file that may pass collaborators. */
function findCandidates(source: Source): readonly Candidate[] {
  const passed = new Set<string>();
  const candidates: Candidate[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) {
      const owner = findOwner(node);
      for (const type of node.parameters.flatMap((parameter) => listAlternatives(parameter.type))) {
        if (isInline(type)) candidates.push({ name: owner, node: type, source });
        else if (ts.isTypeReferenceNode(type) && (ts.isConstructorDeclaration(node) || factoryName.test(owner)))
          passed.add(type.typeName.getText());
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source.file);
  for (const [name, node] of source.declarations) {
    if (ts.isClassDeclaration(node) || ts.isEnumDeclaration(node)) continue;
    if (dependencyName.test(name) || passed.has(name)) candidates.push({ name, node, source });
  }
  return candidates;
}

/** Returns the types of a parameter without parentheses, such as those of `(Reader & Writer) | undefined`. */
function listAlternatives(type: ts.TypeNode | undefined): readonly ts.TypeNode[] {
  if (type === undefined) return [];
  if (ts.isParenthesizedTypeNode(type)) return listAlternatives(type.type);
  return ts.isUnionTypeNode(type) ? type.types.flatMap(listAlternatives) : [type];
}

/** Returns whether a type is written with its parameter instead of being declared with a name. */
function isInline(type: ts.TypeNode): boolean {
  if (ts.isTypeReferenceNode(type)) return mappedTypes.has(type.typeName.getText());
  return ts.isTypeLiteralNode(type) || ts.isIntersectionTypeNode(type);
}

/** Returns the name of a function, or of the class of a constructor; empty without one. */
function findOwner(node: ts.SignatureDeclaration): string {
  const named = node.name ?? (node.parent as { readonly name?: ts.Node }).name;
  return named?.getText() ?? '';
}

/** Resolves the names of types over the files. */
class TypeReader {
  readonly #sources: ReadonlyMap<string, Source>;

  constructor(sources: ReadonlyMap<string, Source>) {
    this.#sources = sources;
  }

  /** Lists the members of a type with those that it inherits. */
  listMembers({ node, source }: Scoped<ts.Node>): readonly Scoped<ts.TypeElement>[] {
    if (ts.isInterfaceDeclaration(node)) {
      const inherited = (node.heritageClauses ?? []).flatMap(({ types }) =>
        types.flatMap((type) => this.#listReferenced(type.expression.getText(), type.typeArguments, source)),
      );
      return [...inherited, ...node.members.map((member) => ({ node: member, source }))];
    }
    if (ts.isTypeAliasDeclaration(node)) return this.listMembers({ node: node.type, source });
    if (ts.isTypeLiteralNode(node)) return node.members.map((member) => ({ node: member, source }));
    if (ts.isIntersectionTypeNode(node)) return node.types.flatMap((type) => this.listMembers({ node: type, source }));
    if (ts.isTypeReferenceNode(node)) return this.#listReferenced(node.typeName.getText(), node.typeArguments, source);
    return [];
  }

  #listReferenced(
    name: string,
    typeArguments: readonly ts.TypeNode[] | undefined,
    source: Source,
  ): readonly Scoped<ts.TypeElement>[] {
    const [first, second] = typeArguments ?? [];
    if (first && mappedTypes.has(name)) {
      const members = this.listMembers({ node: first, source });
      if (second === undefined || !(name === 'Pick' || name === 'Omit')) return members;
      const keys = this.#listKeys({ node: second, source });
      return members.filter(({ node }) => keys.has(node.name?.getText() ?? '') === (name === 'Pick'));
    }
    const resolved = this.#resolve(name, source);
    return resolved ? this.listMembers(resolved) : [];
  }

  /** Returns the keys that `Pick` and `Omit` name: literals, `keyof` of a type, and aliases of these. */
  #listKeys({ node, source }: Scoped<ts.Node>): ReadonlySet<string> {
    if (ts.isParenthesizedTypeNode(node)) return this.#listKeys({ node: node.type, source });
    if (ts.isTypeAliasDeclaration(node)) return this.#listKeys({ node: node.type, source });
    if (ts.isLiteralTypeNode(node) && ts.isStringLiteral(node.literal)) return new Set([node.literal.text]);
    if (ts.isUnionTypeNode(node))
      return new Set(node.types.flatMap((type) => [...this.#listKeys({ node: type, source })]));
    if (ts.isTypeOperatorNode(node)) {
      const members = this.listMembers({ node: node.type, source });
      return new Set(members.map(({ node: { name } }) => name?.getText() ?? ''));
    }
    const alias = ts.isTypeReferenceNode(node) ? this.#resolve(node.typeName.getText(), source) : undefined;
    return alias && ts.isTypeAliasDeclaration(alias.node) ? this.#listKeys(alias) : new Set();
  }

  /** Returns whether a member is a function, or an object that has functions. */
  isCollaborator({ node, source }: Scoped<ts.TypeElement>): boolean {
    return this.#hasFunctions([node], source, new Set());
  }

  #acts(type: ts.Node, source: Source, visited: Set<ts.Node>): boolean {
    if (visited.has(type)) return false;
    visited.add(type);
    const acts = (each: ts.Node | undefined): boolean => each !== undefined && this.#acts(each, source, visited);
    if (ts.isFunctionTypeNode(type)) return true;
    if (ts.isTypeOperatorNode(type) || ts.isParenthesizedTypeNode(type)) return acts(type.type);
    if (ts.isArrayTypeNode(type)) return acts(type.elementType);
    if (ts.isUnionTypeNode(type) || ts.isIntersectionTypeNode(type)) return type.types.some(acts);
    if (ts.isTypeLiteralNode(type)) return this.#hasFunctions(type.members, source, visited);
    if (ts.isIndexedAccessTypeNode(type)) return this.#isIndexedFunction(type, source, visited);
    return ts.isTypeReferenceNode(type) && this.#actsByName(type, source, visited);
  }

  #actsByName(type: ts.TypeReferenceNode, source: Source, visited: Set<ts.Node>): boolean {
    const acts = (each: ts.Node | undefined): boolean => each !== undefined && this.#acts(each, source, visited);
    const name = type.typeName.getText();
    if (name === 'Pick' || name === 'Omit') {
      const members = this.#listReferenced(name, type.typeArguments, source);
      return members.length === 0
        ? acts(type.typeArguments?.[0])
        : members.some(({ node, source: from }) => this.#hasFunctions([node], from, visited));
    }
    if (dataContainers.has(name)) return (type.typeArguments ?? []).some(acts);
    if (dataClasses.has(name)) return false;
    if (name === 'ReturnType' || name === 'Awaited') return true;
    const parameter = findTypeParameter(type, name);
    if (parameter) return acts(parameter.constraint);
    const resolved = this.#resolve(name, source);
    // Types of libraries are not read; those that services pass on have functions.
    if (!resolved) return source.imports.has(name);
    // A generic type has members of the types of its arguments.
    if ((type.typeArguments ?? []).some(acts)) return true;
    const { node } = resolved;
    if (ts.isClassDeclaration(node)) return true;
    if (ts.isEnumDeclaration(node) || visited.has(node)) return false;
    if (ts.isTypeAliasDeclaration(node)) return this.#acts(node.type, resolved.source, visited);
    visited.add(node);
    return this.listMembers(resolved).some(({ node: member, source: from }) =>
      this.#hasFunctions([member], from, visited),
    );
  }

  #hasFunctions(members: readonly ts.TypeElement[], source: Source, visited: Set<ts.Node>): boolean {
    return members.some(
      (member) =>
        ts.isMethodSignature(member) ||
        ts.isCallSignatureDeclaration(member) ||
        (ts.isPropertySignature(member) && member.type !== undefined && this.#acts(member.type, source, visited)),
    );
  }

  #isIndexedFunction(type: ts.IndexedAccessTypeNode, source: Source, visited: Set<ts.Node>): boolean {
    const key = type.indexType.getText().replaceAll("'", '');
    const member = this.listMembers({ node: type.objectType, source }).find(({ node }) => node.name?.getText() === key);
    return member === undefined || this.#hasFunctions([member.node], member.source, visited);
  }

  #resolve(name: string, source: Source): Scoped<TypeDeclaration> | undefined {
    const node = source.declarations.get(name);
    if (node) return { node, source };
    const imported = source.imports.get(name);
    const from = imported && this.#sources.get(imported.path);
    return from && this.#resolve(imported.name, from);
  }
}

/** Finds the type parameter that a name in a declaration refers to. */
function findTypeParameter(node: ts.Node, name: string): ts.TypeParameterDeclaration | undefined {
  for (let scope = node.parent as ts.Node | undefined; scope !== undefined; scope = scope.parent) {
    const parameters = (scope as { readonly typeParameters?: readonly ts.TypeParameterDeclaration[] }).typeParameters;
    const declared = parameters?.find((parameter) => parameter.name.text === name);
    if (declared !== undefined) return declared;
  }
  return undefined;
}
