import { describeLargeBlob } from './large-blob.ts';

describeLargeBlob(16);
