import { describeMatrix } from './matrix.ts';

describeMatrix(() => true);
