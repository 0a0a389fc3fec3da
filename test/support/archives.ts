import { crc32, gzipSync } from 'node:zlib';
import { pack, type Header } from 'tar-stream';

/** Member of an archive made by a test. */
export interface TestMember {
  readonly name: string;
  readonly content?: string | Buffer;
  /** Unix mode with the file type. Default: an executable file. */
  readonly mode?: number;
}

const executableMode = 0o100755;
const localHeaderBytes = 30;

/** Builds a zip file without compression as a Unix program writes it. Names are not checked. */
export function buildZip(members: readonly TestMember[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content = '', mode = executableMode } of members) {
    const [path, data] = [Buffer.from(name), Buffer.from(content)];
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt32LE(crc32(data), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(data.length, 18);
    fields.writeUInt16LE(path.length, 22);
    const attributes = Buffer.alloc(14);
    attributes.writeUInt32LE(mode * 65_536, 6);
    attributes.writeUInt32LE(offset, 10);
    parts.push(Buffer.from('PK\u0003\u0004', 'latin1'), fields, path, data);
    directory.push(Buffer.from('PK\u0001\u0002', 'latin1'), Buffer.from([20, 3]), fields, attributes, path);
    offset += localHeaderBytes + path.length + data.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(members.length, 4);
  end.writeUInt16LE(members.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, central, Buffer.from('PK\u0005\u0006', 'latin1'), end]);
}

/** Builds a compressed tar file from headers and contents. Names are not checked. */
export async function buildTarGz(
  members: readonly (Partial<Header> & { readonly name: string; readonly content?: string })[],
): Promise<Buffer> {
  const archive = pack();
  const chunks: Buffer[] = [];
  const read = (async () => {
    for await (const chunk of archive as AsyncIterable<Buffer>) chunks.push(chunk);
  })();
  for (const { content = '', ...header } of members) archive.entry({ ...header, mode: header.mode ?? 0o755 }, content);
  archive.finalize();
  await read;
  return gzipSync(Buffer.concat(chunks));
}
