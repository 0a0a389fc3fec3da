import * as m from '#messages/git-problems';
import { foldName, hasWindowsPaths, ignoresCase, isWindowsDevice } from '../../kit/platform/file-systems.ts';

/** Folder or file of references, found by its name without case. */
interface NameNode {
  /** The first spelling of the name, and another one if the repository already stores both. */
  readonly spellings: StoredSpelling[];
  readonly children: Map<string, NameNode>;
}

interface StoredSpelling {
  readonly segment: string;
  /** A reference with this spelling, for the message. */
  readonly ref: string;
}

/**
 * Names of the references of a repository, as the tree of folders and files in which Git stores them. Adding and
 * checking a name takes time proportional to its length, however many references there are.
 */
export class StoredReferences {
  readonly #platform: NodeJS.Platform;
  readonly #roots = new Map<string, NameNode>();

  /** @param refs References of the repository after the change, without the new ones. */
  constructor(refs: Iterable<string>, platform: NodeJS.Platform) {
    this.#platform = platform;
    for (const ref of refs) this.add(ref);
  }

  /** Adds a reference, whether or not it collides with another one. */
  add(ref: string): void {
    if (!ignoresCase(this.#platform)) return;
    let nodes = this.#roots;
    for (const segment of ref.split('/')) {
      const key = foldName(segment);
      let node = nodes.get(key);
      if (node === undefined) nodes.set(key, (node = { spellings: [], children: new Map() }));
      const { spellings } = node;
      // With two spellings, any further name differs from at least one of them.
      if (spellings.length < 2 && !spellings.some((stored) => stored.segment === segment))
        spellings.push({ segment, ref });
      nodes = node.children;
    }
  }

  /**
   * Returns the reason why a repository on this system cannot store a new reference: Git stores references as files, so
   * that a branch would replace another one or open a device.
   */
  findCollision(ref: string): string | undefined {
    const segments = ref.split('/');
    if (hasWindowsPaths(this.#platform)) {
      const unusable = segments.find((segment) => isWindowsDevice(segment) || /[<>"|]|[. ]$/.test(segment));
      if (unusable !== undefined) return m.nameUnstorable({ ref, part: unusable });
    }
    let nodes: ReadonlyMap<string, NameNode> = this.#roots;
    for (const segment of segments) {
      const node = nodes.get(foldName(segment));
      if (node === undefined) return undefined;
      const other = node.spellings.find((stored) => stored.segment !== segment);
      if (other !== undefined) return m.nameDiffersByCase({ ref, other: other.ref });
      nodes = node.children;
    }
    return undefined;
  }
}
