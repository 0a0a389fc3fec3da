import { dirname, join } from 'node:path/posix';
import ts from 'typescript';

/** An interface of collaborators that is passed to a constructor or a factory. */
export interface Bag {
  readonly name: string;
  readonly path: string;
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

const bagName = /(?:Dependencies|Options|Parts|Collaborators)$/;
const factoryName = /^create[A-Z]/;
/** Generic types of the language whose instances are data when their arguments are. */
const dataContainers = new Set(
  'Array ReadonlyArray Map ReadonlyMap Set ReadonlySet Record Readonly Partial Required Pick Omit NonNullable'.split(
    ' ',
  ),
);
const dataClasses = new Set('Date URL Buffer Uint8Array RegExp AbortSignal Error Temporal'.split(' '));

/**
 * Finds the interfaces of collaborators: those that are named like a bag or that are a parameter of a constructor or
 * a factory of the same file, and that have more collaborators (functions and objects with functions) than data.
 *
 * @param sources texts of the source files by path
 */
export function findBags(sources: ReadonlyMap<string, string>): readonly Bag[] {
  const parsed = new Map([...sources].map(([path, text]) => [path, parseSource(path, text)] as const));
  const types = new TypeReader(parsed);
  return [...parsed.values()].flatMap((source) => {
    const passed = findPassedTypes(source.file);
    return [...source.declarations]
      .filter(([name, node]) => !ts.isClassDeclaration(node) && (bagName.test(name) || passed.has(name)))
      .flatMap(([name, node]) => {
        const members = types.listMembers({ node, source });
        const collaborators = members.filter((member) => types.isCollaborator(member));
        if (collaborators.length * 2 <= members.length) return [];
        return [{ name, path: source.path, members: members.map(({ node: { name: each } }) => each?.getText() ?? '') }];
      });
  });
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

/** Returns the names of types that constructors and factories of a file receive. */
function findPassedTypes(file: ts.SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    const isFactory = ts.isFunctionDeclaration(node) && factoryName.test(node.name?.text ?? '');
    if (isFactory || ts.isConstructorDeclaration(node)) {
      for (const { type } of node.parameters) {
        if (type && ts.isTypeReferenceNode(type)) names.add(type.typeName.getText());
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return names;
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
    if (first && ['Partial', 'Readonly', 'Required', 'Pick', 'Omit'].includes(name)) {
      const members = this.listMembers({ node: first, source });
      if (second === undefined || !(name === 'Pick' || name === 'Omit')) return members;
      const keys = new Set([...second.getText().matchAll(/'([^']+)'/g)].map(([, key]) => key));
      return members.filter(({ node }) => keys.has(node.name?.getText()) === (name === 'Pick'));
    }
    const resolved = this.#resolve(name, source);
    return resolved ? this.listMembers(resolved) : [];
  }

  /** Whether a member is a function, or an object that has functions. */
  isCollaborator({ node, source }: Scoped<ts.TypeElement>): boolean {
    if (ts.isMethodSignature(node) || ts.isCallSignatureDeclaration(node)) return true;
    return ts.isPropertySignature(node) && node.type !== undefined && this.#acts(node.type, source, new Set());
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
    if (!ts.isTypeReferenceNode(type)) return false;
    const name = type.typeName.getText();
    if (name === 'Pick' || name === 'Omit') {
      return (
        this.#listReferenced(name, type.typeArguments, source).some((member) => this.isCollaborator(member)) ||
        (acts(type.typeArguments?.[0]) && this.#listReferenced(name, type.typeArguments, source).length === 0)
      );
    }
    if (dataContainers.has(name)) return (type.typeArguments ?? []).some(acts);
    if (dataClasses.has(name)) return false;
    if (name === 'ReturnType' || name === 'Awaited') return true;
    const resolved = this.#resolve(name, source);
    if (!resolved) return source.imports.has(name);
    const { node } = resolved;
    if (ts.isClassDeclaration(node)) return true;
    if (ts.isEnumDeclaration(node)) return false;
    if (ts.isTypeAliasDeclaration(node)) return this.#acts(node.type, resolved.source, visited);
    if (visited.has(node)) return false;
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
