import { evm } from '#test/chains/conformance/evm.ts';
import { cashoutSurvivesSigkill } from './cashout-crashes.ts';

cashoutSurvivesSigkill(evm);
