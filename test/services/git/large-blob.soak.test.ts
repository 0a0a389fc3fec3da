import { describeLargeBlob } from './large-blob.ts';

describeLargeBlob(1024);
