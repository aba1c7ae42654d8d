import { bitcoin } from '#test/chains/conformance/bitcoin.ts';
import { cashoutSurvivesSigkill } from './cashout-crashes.ts';

cashoutSurvivesSigkill(bitcoin);
